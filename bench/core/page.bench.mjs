// A checked page, bytes to Call[], against utf8 decode and JSON.parse of the same bytes. No socket:
// a dispatcher hands the bytes over, so that all of the client's own work is in the figure, and
// nothing of the network.
import { bearerToken, createClient } from '@call-attribution/core';
import { splitRecords } from '../../packages/core/dist/page/split-records.js';
import { wireCalls } from './wire-calls.mjs';

const rows = 1000;
const rounds = Number(process.env.ROUNDS ?? 60);
// The tenth percentile next to the median: on a machine with other work it is the steadier figure.
const at = (list, share) => list.sort((a, b) => a - b)[Math.floor(list.length * share)];

function handing(bytes) {
  const headers = {
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    'content-range': `1-${rows}/${rows}`,
  };
  return {
    dispatch(_, handler) {
      const controller = { abort() {}, pause() {}, resume() {} };
      handler.onRequestStart(controller, {});
      handler.onResponseStart(controller, 200, headers, 'OK');
      handler.onResponseData(controller, bytes);
      handler.onResponseEnd(controller, {});
      return true;
    },
  };
}

async function cpu(run) {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const kinds = [
  ['v3, mostly ASCII with some names beyond it', wireCalls(rows, 'v3')],
  [
    'v3, ASCII only',
    JSON.parse(JSON.stringify(wireCalls(rows, 'v3')).replace(/[^\x20-\x7e]/g, '?')),
  ],
  ['v2', wireCalls(rows, 'v2')],
  [
    'v3 with two unknown fields',
    wireCalls(rows, 'v3').map((call) => ({ ...call, novel: 1, other: 'x' })),
  ],
];

console.log(
  `${rows} records a page, ${rounds} interleaved rounds, CPU ms: tenth percentile (median), and their ratios`,
);
for (const [name, records] of kinds) {
  const version = name.startsWith('v2') ? 'v2' : 'v3';
  const bytes = Buffer.from(JSON.stringify(records));
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    version,
    auth: bearerToken('t'),
    dispatcher: handing(bytes),
    onReport: () => {},
  });
  const ways = {
    'decode + JSON.parse': () => JSON.parse(bytes.toString('utf8')),
    'listCalls, checked': () => client.listCalls({ rows }),
    'fetchPage, boundaries proved': () => client.fetchPage({ rows }),
    'fetchPage and its records': async () =>
      (await client.fetchPage({ rows })).items().map((item) => item.read()),
    'splitRecords, exact way': () => splitRecords(bytes),
  };
  const times = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [way, run] of Object.entries(ways)) {
      globalThis.gc?.();
      const spent = await cpu(run);
      if (round >= 5) times[way].push(spent);
    }
  const base = times['decode + JSON.parse'];
  console.log(`\n${name}: ${(bytes.length / rows).toFixed(0)} bytes a record`);
  for (const [way, list] of Object.entries(times)) {
    const low = at(list, 0.1);
    const mid = at(list, 0.5);
    const ratios = `${(low / at(base, 0.1)).toFixed(2)} x (${(mid / at(base, 0.5)).toFixed(2)} x)`;
    console.log(
      `  ${way.padEnd(28)} ${low.toFixed(2).padStart(7)} (${mid.toFixed(2)}) ms  ${ratios}`,
    );
  }
  await client.close();
}
