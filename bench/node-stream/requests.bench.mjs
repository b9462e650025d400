// Requests of reads, cell by cell, beside a loop over all pages that proves nothing: the lists and
// servers of the law in packages/node-stream/test/laws/requests.ts, in one process and without a
// network. `node requests.bench.mjs`, run by `pnpm bench node-stream`. Writes requests.md, and ends
// with 1 when a cell is above 1.1 times what that file had, and more than 2 above it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSource } from '../../scripts/sources.mjs';

const here = import.meta.dirname;
const file = join(here, 'requests.md');
const law = '../../packages/node-stream/test/laws/requests.ts';
const { mostPerPage, orders, periods, readsWithin, rhythms } = await importSource(join(here, law));

const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
const rowOf = (name) => before.split('\n').find((line) => line.startsWith(`| ${name} |`));
const cellsOf = (row) =>
  (row?.split('|') ?? []).flatMap((cell) => /^ (\d+) $/.exec(cell)?.[1] ?? []);

const columns = [null, 20].flatMap((cap) =>
  Object.keys(periods).map((period) => ({ cap, period })),
);
const rows = [];
const risen = [];
let sum = 0;
for (const [rhythm, recordsOf] of Object.entries(rhythms)) {
  const records = recordsOf(2000);
  for (const order of Object.keys(orders)) {
    const name = `${rhythm}, ${order}`;
    const earlier = cellsOf(rowOf(name));
    const cells = [];
    for (const [i, { cap, period }] of columns.entries()) {
      const cell = { order, period, rows: 50, cap };
      const { requests } = await readsWithin(records, mostPerPage(order, rhythm), cell);
      cells.push(requests);
      sum += requests;
      const was = Number(earlier[i] ?? requests);
      if (requests > 1.1 * was && requests > was + 2)
        risen.push(`${name}, ${period}, capped at ${cap}: ${requests}, not ${was}`);
    }
    rows.push(`| ${name} | ${cells.join(' | ')} |`);
  }
}

const titles = columns.map(({ cap, period }) => `${period}${cap === null ? '' : `, capped`}`);
const text = `<!-- Made by \`pnpm bench node-stream\`. Do not edit. -->
# node-stream: requests of a read

Each list has 2,000 calls and is read 50 at a time, also from a server that gives 20 at most. A loop over all pages takes 40 requests, and 100
where they are capped; it does not notice what is missing. In all ${rows.length * columns.length} cells together: ${sum.toLocaleString('en-US')} requests.

| list, order of the server | ${titles.join(' | ')} |
|---|${'--:|'.repeat(columns.length)}
${rows.join('\n')}
`;
writeFileSync(file, text);
console.log(text);
for (const line of risen) console.error(`more requests than before: ${line}`);
process.exitCode = risen.length > 0 ? 1 : 0;
