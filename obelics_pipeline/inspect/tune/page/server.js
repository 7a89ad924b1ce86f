// What the server is asked, and what it found wrong.
const errors = new Map(); // by question, until the same question succeeds or a setting changes
let told = () => {};

export const whenWrong = (listener) => (told = listener);

export function forgetErrors() {
  errors.clear();
  told("");
}

/** Says that what was written is not valid, until something is changed. */
export function refuse(text) {
  errors.set("", text);
  told(text);
}

/** The answer; undefined where there is none, and then the page's error line says why. */
export async function ask(name, values = {}) {
  let answer, error;
  try {
    const response = await fetch(`api/${name}`, { method: "POST", body: JSON.stringify(values) });
    ({ answer, error } = await response.json());
  } catch {
    error = "the server does not answer; is obelics tune still running?";
  }
  if (error === undefined) errors.delete(name);
  else errors.set(name, error);
  told([...errors.values()].at(-1) ?? "");
  return error === undefined ? answer : undefined;
}

export const image = (sha256) => `image/${encodeURIComponent(sha256)}`;

/** Calls `work`, never twice at a time: what is asked for meanwhile is done once, afterwards. */
export function latest(work) {
  let busy = false;
  let again = false;
  return async () => {
    again = true;
    if (busy) return;
    busy = true;
    try {
      while (again) {
        again = false;
        await work();
      }
    } finally {
      busy = false; // or an error in one would end all that follow
    }
  };
}
