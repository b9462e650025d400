// docs/reliability.md: what each drill does, and its last result in both lengths. `pnpm drills --write` writes it.

/**
 * @typedef {{ name: string, kind: string, what: string, runs: number, lost: number, doubled: number, hung: number,
 *   lied: number, seconds: number, events: Record<string, number> }} Result
 */
/** What the page keeps of a drill. @typedef {{ kind: string, what: string, usual: string, long: string }} Row */
/** @typedef {{ form: 'usual' | 'long', isWhole: boolean, machine: string, day: string }} Run */

const never = '–';

/** The results in a report, ordered by kind and name. @param {string} report lines of JSON @returns {Result[]} */
export const readResults = (report) =>
  report
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));

/** The rows of a page. @param {string} page @returns {Map<string, Row>} */
export function readRows(page) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  let kind = '';
  for (const line of page.split('\n')) {
    kind = /^## (.+)$/.exec(line)?.[1]?.toLowerCase() ?? kind;
    const [, name = '', what = '', usual = '', long = ''] =
      /^\| ([a-z0-9-]+) \| (.+) \| ([^|]+) \| ([^|]+) \|$/.exec(line) ?? [];
    if (name !== '' && name !== 'drill') rows.set(name, { kind, what, usual, long });
  }
  return rows;
}

const plural = (/** @type {number} */ count, /** @type {string} */ what) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? what.replace(/s$/, '') : what}`;

/** @param {Result} result @param {string} day */
function resultIn({ runs, lost, doubled, hung, lied, events }, day) {
  const done = Object.entries(events).map(([event, count]) => `${count.toLocaleString('en-US')} ${event}`);
  const faults = Object.entries({ lost, doubled, hung, lied }).filter(([, count]) => count > 0);
  const verdict = faults.length === 0 ? 'held' : faults.map(([name, count]) => `${count} ${name}`).join(', ');
  return `${day}: **${verdict}**; ${[plural(runs, 'runs'), ...done].join(', ')}`;
}

/**
 * The page with new results. Rows of drills that were not run stay, unless the run was of all drills of its length.
 * @param {string} before @param {readonly Result[]} results @param {Run} run
 */
export function reliabilityPage(before, results, { form, isWhole, machine, day }) {
  const rows = readRows(before);
  const ran = new Set(results.map(({ name }) => name));
  for (const [name, row] of rows) {
    if (!isWhole || ran.has(name)) continue;
    row[form] = never;
    if (form === 'long' || row.long === never) rows.delete(name);
  }
  for (const result of results) {
    const { name, kind, what } = result;
    const known = rows.get(name) ?? { usual: never, long: never };
    rows.set(name, { ...known, kind, what: `${what}.`, [form]: resultIn(result, day) });
  }
  const kinds = [...new Set([...rows.values()].map(({ kind }) => kind))].sort();
  const sections = kinds.map((kind) => {
    const own = [...rows].filter(([, row]) => row.kind === kind).sort(([a], [b]) => a.localeCompare(b));
    const lines = own.map(([name, { what, usual, long }]) => `| ${name} | ${what} | ${usual} | ${long} |`);
    return `## ${kind.charAt(0).toUpperCase()}${kind.slice(1)}\n\n${head}\n${lines.join('\n')}\n`;
  });
  return `${text(machine)}\n${sections.join('\n')}`;
}

const head = `| drill | what it does, and what must hold | \`pnpm drills\` | \`pnpm drills --long\` |
|---|---|---|---|`;

const text = (/** @type {string} */ machine) => `# Reliability

<!-- Written by \`pnpm drills --write\`: change scripts/reliability.mjs or the drills instead of this page. -->

Drills are tests that break what the packages depend on, over and over, and then compare records one by one. \`pnpm drills\` runs
them in a short form, as \`.ci/run\` does; \`pnpm drills --long\` runs each at full length, and also those that are too long for the
short form (${never} in the third column); \`pnpm drills <path>\` runs one file. Each drill counts:

- **runs**: processes, reads or histories;
- **lost**: records that should be there and are not;
- **doubled**: records that are there more than once;
- **hung**: runs that did not end in time;
- **lied**: results that were not true, such as an exit status of 0 without all records, a wrong total, or a record that never was.

A drill has **held** when the last four are zero, and fails otherwise. What the drills do not show: they run on one machine, so a cut
network between hosts and a disk that loses what it has confirmed are not part of them. Power failures are not simulated either; files
and databases are synced to the disk before something is reported as written.

The last results, on ${machine}:
`;
