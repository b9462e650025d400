// CSV of records that are parsed already, as a stream from objects to bytes; what the feeding
// itself costs is taken off.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { median } from './run.mjs';

async function csvOnce(name) {
  const [result] = await once(fork(join(import.meta.dirname, 'csv-once.mjs'), [name]), 'message');
  return result;
}

/** CPU per record of each encoder, and its ratio to csv-stringify within the round. */
export async function csvRounds(rounds) {
  const names = ['toCsv', 'toCsv, safe', 'csv-stringify'];
  const runs = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const feed = (await csvOnce('none')).cpu;
    for (const name of names) runs.get(name).push((await csvOnce(name)).cpu - feed);
  }

  const peer = runs.get('csv-stringify');
  return names.map((name) => ({
    name,
    cpu: median(runs.get(name)),
    ratio: median(runs.get(name).map((cpu, round) => cpu / peer[round])),
  }));
}
