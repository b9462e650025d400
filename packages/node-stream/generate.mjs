// Prints what a read asks for, request by request, from the API of tests: docs/one-read.md.
import { join } from 'node:path';
import { importSource } from '../../scripts/sources.mjs';
import { root } from '../../scripts/workspace.mjs';

const minute = 60_000;
const day = 24 * 60 * minute;

/**
 * @typedef {{ title: string, why: string, calls: (i: number) => number, filter?: string, hasNoTotal?: boolean,
 *   order?: 'oldest' | 'newest' | 'scattered', cap?: number, count?: number }} Example
 */

/** `calls`: from each call to the next, in milliseconds. @type {readonly Example[]} */
const examples = [
  {
    title: 'Even, the oldest first',
    why: 'The first answer counts everything, and shows how close calls lie: from then on, each slice is meant to fill 0.85 of a page. At the end, what was read is counted once more.',
    calls: () => 10 * minute,
  },
  {
    title: 'Uneven',
    why: 'Twenty calls in a few minutes, then hours without any. Slices that would hold more than a page are kept as far as the page goes, and read on from there: the two totals prove both.',
    calls: (i) => (i % 20 === 19 ? 10 * 60 * minute : minute),
  },
  {
    title: 'The newest first',
    why: 'The first page shows the end of the list. One look at its last page shows where it begins.',
    calls: () => 10 * minute,
    order: 'newest',
  },
  {
    title: 'In no order',
    why: 'A page shows a sample of the whole list: it is cut in parts that are meant to fill a page each.',
    calls: () => 10 * minute,
    order: 'scattered',
  },
  {
    title: 'Capped pages',
    why: 'The server gives 6 rows where 10 are asked for. It does so twice while it has more: from then on, a page holds 6.',
    calls: () => 10 * minute,
    cap: 6,
  },
  {
    title: 'No totals',
    why: 'Nothing can be proved, so pages are read one after the other, until one brings nothing new. One request of one row asks whether the server gives totals at all.',
    calls: () => 10 * minute,
    hasNoTotal: true,
  },
  {
    title: 'A quiet year',
    why: 'Behind the last call before it, the slices that were planned are empty. After an empty one, nothing is planned: what is left is asked for as it is, and shows where calls go on.',
    calls: (i) => (i === 30 ? 365 * day : 10 * minute),
  },
];

const intro = `# One read, request by request

<!-- Written by \`pnpm generate\` (packages/node-stream/generate.mjs), from a read of the API of the tests. -->

What \`createCallStream\` asks a server for. Each list has 60 calls from 2020-01-01 on, and the reader asks for 10 at a time and two pages
at once, up to the end of 2021. \`*\` is the open begin.
A range includes both of its ends, so a call at a border comes with two slices, and is delivered with the first. What may follow an answer
is part of the proof (\`reader/allowed.ts\`); what is best of that is \`reader/choose.ts\`.
`;

export async function generate() {
  const source = (/** @type {string} */ path) => importSource(join(root, 'packages', path));
  const { apiKeys, createClient } = await source('core/src/index.ts');
  const { fakeApi, faults, fixtureCalls } = await source('core/src/testing/index.ts');
  const { createCallStream, describe } = await source('node-stream/src/index.ts');
  const sections = [];
  for (const { title, why, calls: gap, order = 'oldest', cap, hasNoTotal } of examples) {
    let at = Date.UTC(2020, 0, 1);
    const calls = fixtureCalls(60).map((/** @type {object} */ call, /** @type {number} */ i) => {
      const date_added = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
      at += gap(i);
      return { ...call, date_added };
    });
    const answers = [];
    const api = fakeApi({
      calls,
      order,
      cap,
      faults: () => ({
        change: (response, { url }) => {
          const sent = hasNoTotal
            ? faults
                .range((first, last) => `items ${first}-${last}/*`)
                .change(response, { url, now: 0 })
            : response;
          const { searchParams } = new URL(url, 'http://localhost');
          const [, total] = /\/(.*)$/.exec(sent.headers['content-range'] ?? '') ?? [];
          const rows = JSON.parse(String(sent.body)).length;
          answers.push(rowOf(searchParams, rows, total));
          return sent;
        },
      }),
    });
    const client = createClient({
      baseUrl: 'http://localhost',
      auth: apiKeys('key', 'secret'),
      fetch: api.fetch,
    });
    const stream = createCallStream(client, {
      rows: 10,
      prefetch: 2,
      filter: 'inc_gce:1,date_added:[* TO 2021-12-31 00:00:00]',
    });
    const slices = [];
    for await (const { items } of stream.pages()) slices.push(items.length);
    await client.close();
    const table = ['| | range | page/rows | answer |', '|--:|---|---|---|'];
    for (const [i, row] of answers.entries()) table.push(`| ${i + 1} ${row}`);
    sections.push(
      `## ${title}\n\n${why}\n\n${table.join('\n')}\n\nDelivered are slices of ${slices.join(', ')} calls. The verdict: ${describe(stream.verdict()).text}.\n`,
    );
  }
  return [{ path: 'docs/one-read.md', text: `${intro}\n${sections.join('\n')}` }];
}

/** @param {URLSearchParams} query @param {number} rows @param {string | undefined} total */
function rowOf(query, rows, total) {
  const [, from = '*', to = '*'] =
    /date_added:[[{](\S+(?: \S+)?) TO (\S+(?: \S+)?)[\]}]/.exec(query.get('q') ?? '') ?? [];
  const page = `${query.get('start') ?? 0}/${query.get('rows')}`;
  const all = total === '*' || total === undefined ? 'no total' : `of ${total}`;
  return `| ${placeOf({ from, to })} | ${page} | ${rows} ${all} |`;
}

/** @param {{ from: string | null, to: string | null }} range */
const placeOf = ({ from, to }) => `${short(from)} – ${short(to)}`;

const short = (/** @type {string | null} */ time) =>
  time === null || time === '*' ? '*' : time.replace('2020-', '').replace(/:00$/, '');
