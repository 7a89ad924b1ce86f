// What the server says of the settings as they are: kept up to date, and told to whoever listens.
import { ask, latest } from "./server.js";
import { settings, whenChanged } from "./settings.js";

const AT_ONCE = 2000; // documents up to which a dry run begins by itself
const PAUSE = 1500; // ms without a change before it does
const POLL = 500; // ms
const listeners = [];

export const bench = { about: null, estimate: null, counts: {}, reasons: null, dryRun: null, level: "document" };
export const whenWeighed = (listener) => listeners.push(listener);

const tell = () => listeners.forEach((listener) => listener());

/** Asks for the counts of the level in sight, after each change; the next when the last has come. */
export const weigh = latest(async () => {
  const asked = { settings: { ...settings } };
  const level = bench.level;
  const [estimate, counts, reasons] = await Promise.all([
    ask("estimate", asked),
    ["paragraph", "image"].includes(level) ? ask("counts", { ...asked, level }) : null,
    level === "dedup" ? ask("reasons", asked) : null,
  ]);
  bench.stale = estimate === undefined;
  if (estimate) bench.estimate = estimate;
  if (counts) bench.counts[level] = counts;
  if (reasons) bench.reasons = reasons;
  tell();
});

let followed = 0; // the last dry run that was begun

/** Begins a dry run of the settings and follows it to its end, or until another one is begun. */
export async function startDryRun() {
  const mine = ++followed;
  let state = await ask("start_dry_run", { settings });
  while (mine === followed) {
    bench.dryRun = state ?? null;
    tell();
    if (!state?.working || state.known) return weigh();
    await new Promise((resolve) => setTimeout(resolve, POLL));
    state = await ask("dry_run", { settings });
  }
}

let pause = 0;

export function start(about) {
  bench.about = about;
  bench.estimate = about.estimate;
  whenChanged(settled);
  settled();
}

function settled() {
  weigh();
  clearTimeout(pause);
  if (Object.keys(settings).length === 0 || bench.about.documents >= AT_ONCE) return;
  pause = setTimeout(() => !bench.stale && !bench.estimate.exact && startDryRun(), PAUSE);
}
