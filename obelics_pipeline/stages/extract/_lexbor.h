/* Lexbor's tree as the compiled parts see it: by functions that are looked up in the loaded module by name. Nodes are
 * opaque: no struct of Lexbor's is known.
 */
#include <Python.h>
#include <dlfcn.h>
#include <stdint.h>

typedef unsigned char byte;
typedef struct Node Node;           /* lxb_dom_node_t, an element or the document too */
typedef struct Attribute Attribute; /* lxb_dom_attr_t */

enum { ELEMENT_NODE = 1, TEXT_NODE = 3 }; /* of the DOM standard */

static struct {
    Node *(*next)(Node *);
    Node *(*previous)(Node *);
    Node *(*parent)(Node *);
    Node *(*first_child)(Node *);
    uintptr_t (*tag)(Node *);
    int (*type)(Node *);
    const byte *(*name)(Node *, size_t *);
    Attribute *(*first_attribute)(Node *);
    Attribute *(*next_attribute)(Attribute *);
    const byte *(*attribute_name)(Attribute *, size_t *);
    const byte *(*attribute_value)(Attribute *, size_t *);
    byte *(*copy_text)(Node *, size_t *);
    void (*remove)(Node *);
    Attribute *(*set_attribute)(Node *, const byte *, size_t, const byte *, size_t);
} lexbor;

/* The functions of the Lexbor that selectolax is linked with. Those that a header inlines are there as *_noi too. */
static int find_lexbor(const char *path)
{
    struct {
        const char *name;
        void **place;
    } wanted[] = {
        {"lxb_dom_node_next_noi", (void **)&lexbor.next},
        {"lxb_dom_node_prev_noi", (void **)&lexbor.previous},
        {"lxb_dom_node_parent_noi", (void **)&lexbor.parent},
        {"lxb_dom_node_first_child_noi", (void **)&lexbor.first_child},
        {"lxb_dom_node_tag_id_noi", (void **)&lexbor.tag},
        {"lxb_dom_node_type_noi", (void **)&lexbor.type},
        {"lxb_dom_element_qualified_name", (void **)&lexbor.name},
        {"lxb_dom_element_first_attribute_noi", (void **)&lexbor.first_attribute},
        {"lxb_dom_element_next_attribute_noi", (void **)&lexbor.next_attribute},
        {"lxb_dom_attr_local_name_noi", (void **)&lexbor.attribute_name},
        {"lxb_dom_attr_value_noi", (void **)&lexbor.attribute_value},
        {"lxb_dom_node_text_content", (void **)&lexbor.copy_text},
        {"lxb_dom_node_remove", (void **)&lexbor.remove},
        {"lxb_dom_element_set_attribute", (void **)&lexbor.set_attribute},
    };
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    size_t i;
    if (!library) {
        PyErr_Format(PyExc_OSError, "%s is not loaded", path);
        return -1;
    }
    for (i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*wanted[i].place = dlsym(library, wanted[i].name))) {
            PyErr_Format(PyExc_OSError, "%s has no %s", path, wanted[i].name);
            return -1;
        }
    return 0;
}
