// What stays, always in sight; what was changed; and what can be done with it.
import { button, element, short, signed, whole } from "./element.js";
import { ask, whenWrong } from "./server.js";
import { original, settings, undoAll, unset, whenChanged } from "./settings.js";
import { bench, startDryRun, whenWeighed } from "./workbench.js";

const THINGS = ["documents", "images", "tokens"];
const written = (value) => (typeof value === "number" ? short(value) : value === null ? "none" : String(value));

export function header(place) {
  const counts = element("dl", { class: "counts", "aria-live": "polite" });
  const state = element("p", { class: "state" });
  const progress = element("progress", { "aria-label": "dry run", hidden: true });
  const changes = element("ul", { class: "changes", "aria-label": "Changed settings" });
  const error = element("p", { class: "error", role: "alert", hidden: true });
  const undo = button("Undo all", undoAll, { id: "undo" });
  const { folder, config, sample } = bench.about;
  const what = `${folder}${config ? ` · ${config}` : ""}${sample ? ` · sample ${sample}` : ""}`;

  whenWrong((text) => {
    error.textContent = text;
    error.hidden = !text;
  });

  function showCounts() {
    const { estimate, about, dryRun, stale } = bench;
    const about_ = estimate.exact ? "" : "about ";
    counts.classList.toggle("stale", Boolean(stale));
    counts.replaceChildren(
      ...THINGS.map((thing) => {
        const change = Math.round(estimate.kept[thing] - about.estimate.kept[thing]);
        return element(
          "div",
          {},
          element("dt", {}, thing),
          element("dd", { id: `kept-${thing}` }, element("b", {}, about_ + whole(estimate.kept[thing]))),
          element("dd", { class: "of" }, `of ${whole(about.all[thing])}`),
          element("dd", { class: `change ${change < 0 ? "bad" : "good"}` }, change ? signed(change) : "as the run"),
        );
      }),
    );
    const working = dryRun?.working && !estimate.exact;
    progress.hidden = !working;
    if (dryRun?.total) [progress.max, progress.value] = [dryRun.total, dryRun.done];
    else progress.removeAttribute("value");
    state.className = estimate.exact ? "state exact" : "state";
    state.textContent = stale
      ? "not valid: the counts are those of before"
      : working
        ? `dry run: ${dryRun.stage || "reading"} ${dryRun.done ?? 0} of ${dryRun.total ?? "?"}`
        : estimate.exact
          ? `exact${estimate.dry_run ? " (dry run)" : ": the run’s own"}${missing()}`
          : `about: an estimate${estimate.unknown ? `, ${whole(estimate.unknown)} documents uncertain` : ""}`;
    if (dryRun?.problem && !working) state.textContent += ` · the dry run failed: ${dryRun.problem}`;
  }

  function missing() {
    const { images = 0, scores = 0 } = bench.dryRun?.known ? bench.dryRun : {};
    const lacking = `, except for ${whole(images)} images never fetched and ${whole(scores)} documents not scored`;
    return images || scores ? lacking : "";
  }

  function showChanges() {
    const places = Object.keys(settings).sort();
    undo.disabled = places.length === 0;
    changes.replaceChildren(
      ...places.map((place) =>
        element(
          "li",
          {},
          `${place} `,
          element("b", {}, written(settings[place])),
          element("small", {}, ` was ${written(original(place))} `),
          button("×", () => unset(place), { "aria-label": `undo ${place}` }),
        ),
      ),
    );
  }

  whenWeighed(showCounts);
  whenChanged(showChanges);
  place.append(
    element("h1", {}, "obelics tune ", element("small", {}, what)),
    counts,
    element("div", { class: "now" }, state, progress),
    element("div", { class: "actions" }, button("Dry run", startDryRun, { id: "dry-run" }), saving(), undo),
    error,
    changes,
  );
  showCounts();
  showChanges();
}

function saving() {
  const [first, ...others] = bench.about.save_folders;
  const path = element("input", { id: "path", value: "tuned.yaml", size: 28, spellcheck: "false" });
  const replace = element("input", { type: "checkbox", id: "replace" });
  const done = element("p", { class: "quiet", role: "status" });
  const form = element(
    "form",
    {
      submit: async (event) => {
        event.preventDefault();
        done.textContent = "";
        const where = await ask("saved", { settings, path: path.value, replace: replace.checked });
        if (where !== undefined) done.textContent = `Written. Run it: obelics run ${where} …`;
      },
    },
    element("label", { for: "path" }, `File, in ${[first, ...others.map((folder) => `with its whole path in ${folder}`)].join(", or ")}`),
    path,
    element("label", {}, replace, " replace a file that is there"),
    element("button", { id: "save" }, "Save"),
    done,
  );
  return element("details", { class: "saving" }, element("summary", {}, "Save…"), form);
}
