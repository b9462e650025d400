// What it costs to mask a record for the copy that assistants ask, against the bare JSON copy of
// the same record (parse and stringify). Calls come in pages, as a load brings them: only the
// masking and the copying are measured, as CPU time, in turns.
import { bundled } from '../bundled.mjs';

const pages = 40;
const perPage = 1000;
const limits = { microseconds: 100, ratio: 6 };

const { fields, generate, createMask } = await bundled(
  `
    export { fields } from '@call-attribution/core';
    export { generate } from '../sandbox/src/index.ts';
    export { createMask } from './src/privacy/mask.ts';`,
  new URL('../../packages/mcp-server/', import.meta.url),
);
const mask = createMask(fields, new Set(), 'a key');
const texts = [];
let page = [];
for (const call of generate({ records: pages * perPage, seed: 7 })) {
  page.push(call);
  if (page.length < perPage) continue;
  texts.push(JSON.stringify(page));
  page = [];
}

/** CPU microseconds a call. */
function cost(calls, work) {
  const before = process.cpuUsage();
  for (const call of calls) work(call);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls.length;
}

const masking = [];
const copying = [];
for (const text of texts) {
  masking.push(cost(JSON.parse(text), (call) => mask(call)));
  copying.push(cost(JSON.parse(text), (call) => JSON.parse(JSON.stringify(call))));
}
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const own = median(masking);
const bare = median(copying);
const say = (text, figure, limit) =>
  console.log(
    `${text.padEnd(58)} ${figure.toFixed(1).padStart(9)}  ${limit === undefined ? '' : `limit ${limit}: ${figure <= limit ? 'held' : 'not held'}`}`,
  );

console.log(
  `\n## Masking ${pages * perPage} generated calls, CPU a call, median of ${pages} pages`,
);
say('masked record, microseconds', own, limits.microseconds);
say('JSON copy of the record, microseconds', bare);
say('masked record, x JSON copy', own / bare, limits.ratio);
