import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtFile } from '@call-attribution/test-tools/bundle';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runNode } from '../program.ts';
import { databaseThatRefuses, type RefusingDatabase } from '../refusing-database.ts';
import { openStage, serverThat } from '../stage.ts';

openDrill({
  name: 'secrets',
  kind: 'whole programs',
  what: 'Commands fail in every way with keys set; no output, error, report or heap snapshot of an error shows one',
  countTests: true,
});

const secrets = {
  CALLS_ACCESS_KEY: 'canary-access-1f0c',
  CALLS_SECRET_KEY: 'canary-secret-2e1d',
  CALLS_BEARER_TOKEN: 'canary-token-3d2e',
  CALLS_MCP_TOKEN: 'canary-mcp-4c3f',
  PGPASSWORD: 'canary-password-5b40',
};
const values = Object.values(secrets);
const held = (text: string): string[] => values.filter((value) => text.includes(value));

const stage = openStage();
const folder = mkdtempSync(join(tmpdir(), 'calls-secrets-'));
const probe = await builtFile(new URL('../secrets-probe.ts', import.meta.url).href);
// What a crashed program leaves on the disk, written when `calls` ends.
const atExit = join(folder, 'at-exit.mjs');
writeFileSync(
  atExit,
  `process.on('exit', () => process.report.writeReport(process.env.REPORT, new Error('the end')));`,
);

const said = values.join(' ');
const headers = { 'x-request-id': secrets.CALLS_SECRET_KEY };
const tricks: readonly (readonly [number, Record<string, string>, string])[] = [
  [
    401,
    { 'content-type': 'application/json', ...headers },
    JSON.stringify({ error: `no ${said}`, message: said }),
  ],
  [200, { 'content-type': `${secrets.CALLS_ACCESS_KEY}/${secrets.CALLS_SECRET_KEY}` }, said],
  [302, { location: `https://elsewhere.example/?key=${secrets.CALLS_SECRET_KEY}` }, said],
  [200, { 'content-type': 'text/html' }, `<html><title>${said}</title>${said}</html>`],
  [200, { 'content-type': 'application/json' }, JSON.stringify({ error: said, [said]: said })],
  [500, { 'content-type': 'text/plain' }, said],
];

let api: Awaited<ReturnType<typeof serverThat>>;
let database: RefusingDatabase;
let requests = 0;
beforeAll(async () => {
  api = await serverThat((response) => {
    const [status, given, body] = tricks[requests++ % tricks.length] as (typeof tricks)[0];
    // The status text is the server's as well.
    response.writeHead(status, said, given).end(body);
  });
  database = await databaseThatRefuses();
});
afterAll(async () => {
  api.close();
  database.close();
  rmSync(folder, { recursive: true });
});

describe('calls', () => {
  test.each([
    ['count', () => ['count', '--period', '2026-10-01'], 'CALLS_ACCESS_KEY'],
    [
      'count with a token',
      () => ['count', '--period', '2026-10-01', '--debug', '--api-version', 'v2'],
      'CALLS_BEARER_TOKEN',
    ],
    ['sync', () => ['sync', '--account', '1', '--store', database.url, '--debug'], 'PGPASSWORD'],
    ['store', () => ['store', 'accounts'], 'PGPASSWORD'],
    ['doctor', () => ['doctor', '--debug'], 'CALLS_SECRET_KEY'],
  ])('%s has no key in a diagnostic report', async (name, args) => {
    const report = join(folder, `${name}.json`);
    const password = secrets.PGPASSWORD;
    const { stderr, stdout, code } = await runNode(['--import', atExit, stage.bin, ...args()], {
      cwd: folder,
      env: {
        ...secrets,
        CALLS_BASE_URL: api.url,
        REPORT: report,
        CALLS_STORE: database.url.replace('calls@', `calls:${password}@`),
      },
    });
    expect(code).toBeGreaterThan(0);
    expect(held(stdout + stderr)).toEqual([]);
    const text = readFileSync(report, 'utf8');
    expect(JSON.parse(text).environmentVariables).toMatchObject({ CALLS_BASE_URL: api.url });
    expect(held(text)).toEqual([]);
  });

  test('the password of PGPASSWORD still reaches the database', () => {
    expect(new Set(database.passwords)).toEqual(new Set([secrets.PGPASSWORD]));
    expect(database.passwords.length).toBeGreaterThanOrEqual(2);
  });
});

describe('a program that keeps every error', () => {
  let heapOf: ReturnType<typeof readHeap>;
  beforeAll(async () => {
    const { code, stderr } = await runNode([probe], {
      cwd: folder,
      env: {
        ...secrets,
        CALLS_BASE_URL: api.url,
        CALLS_LEGACY_BASE_URL: api.url,
        STORE: database.url,
        OUT: folder,
        TRICKS: String(tricks.length),
      },
    });
    expect([code, held(stderr)], stderr).toEqual([0, []]);
    heapOf = readHeap(join(folder, 'heap.heapsnapshot'));
  });

  test('nothing that prints them shows a key: inspect with hidden properties, clones, JSON, the diagnostic report', () => {
    for (const name of ['inspected.txt', 'report.json']) {
      const text = readFileSync(join(folder, name), 'utf8');
      expect(text).toContain('HttpError');
      expect([name, held(text)]).toEqual([name, []]);
    }
  });

  test('in a heap snapshot no error holds a key; the client does, since it signs requests', () => {
    const errors = heapOf.nodes.filter(
      ({ type, name }) => type === 'object' && /Error$/.test(name),
    );
    const ours = errors.filter(({ name }) =>
      /^(?:Http|Response|Network|Stream|Cli|Store|Leaky)Error$/.test(name),
    );
    expect(ours.length).toBeGreaterThan(tricks.length * 6);

    // Those of other packages, such as the database driver, are not passed on: ours do not refer to
    // them.
    const leaky = ours.filter((error) => held(stringsOf(heapOf, error).join('\n')).length > 0);
    expect(leaky.map(({ name }) => name)).toEqual(['LeakyError']);
    const all = heapOf.nodes.filter(({ type }) => type.includes('string')).map(({ name }) => name);
    expect(all).toEqual(
      expect.arrayContaining([secrets.CALLS_ACCESS_KEY, secrets.CALLS_SECRET_KEY]),
    );
  });
});

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: string[];
      readonly node_types: [string[], ...unknown[]];
      readonly edge_fields: string[];
      readonly edge_types: [string[], ...unknown[]];
    };
  };
  readonly nodes: number[];
  readonly edges: number[];
  readonly strings: string[];
}

/** One object of a heap snapshot. */
interface HeapNode {
  readonly index: number;
  readonly type: string;
  readonly name: string;
}

/** A heap snapshot that can be searched. */
interface Heap {
  readonly nodes: readonly HeapNode[];
  /** What an object refers to, with the name of each reference. Weak references are left out. */
  edges(node: HeapNode): { readonly name: string; readonly to: HeapNode }[];
}

/** Reads a file of `v8.writeHeapSnapshot`. */
function readHeap(path: string): Heap {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
  const {
    node_fields: fields,
    node_types: types,
    edge_fields: edgeFields,
    edge_types: edgeTypes,
  } = snapshot.meta;
  const at = (name: string) => fields.indexOf(name);
  const width = fields.length;
  const edgeWidth = edgeFields.length;
  const list: HeapNode[] = [];
  const firstEdge: number[] = [0];
  for (let i = 0; i < nodes.length; i += width) {
    list.push({
      index: list.length,
      type: types[0][nodes[i + at('type')] as number] as string,
      name: strings[nodes[i + at('name')] as number] as string,
    });
    firstEdge.push((firstEdge.at(-1) as number) + (nodes[i + at('edge_count')] as number));
  }

  return {
    nodes: list,
    edges({ index }) {
      const found = [];
      for (let i = firstEdge[index] as number; i < (firstEdge[index + 1] as number); i += 1) {
        const [type = 0, name = 0, to = 0] = edges.slice(i * edgeWidth, i * edgeWidth + 3);
        const kind = edgeTypes[0][type];
        if (kind === 'weak') continue;
        const shown =
          kind === 'element' || kind === 'hidden' ? String(name) : (strings[name] as string);
        found.push({ name: shown, to: list[to / width] as HeapNode });
      }

      return found;
    },
  };
}

/**
 * The strings that an object holds itself, in its properties or in what these hold: not the program
 * it belongs to.
 */
function stringsOf(heap: Heap, start: HeapNode): string[] {
  const seen = new Set<number>();
  const queue = [start];
  const found: string[] = [];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (seen.has(node.index)) continue;
    seen.add(node.index);
    if (
      node.type === 'string' ||
      node.type === 'concatenated string' ||
      node.type === 'sliced string'
    )
      found.push(node.name);
    for (const { name, to } of heap.edges(node)) {
      const isProgram = [
        'closure',
        'code',
        'native',
        'synthetic',
        'object shape',
        'hidden',
      ].includes(to.type);
      if (!isProgram && name !== '__proto__' && name !== 'map' && name !== 'constructor')
        queue.push(to);
    }
  }

  return found;
}
