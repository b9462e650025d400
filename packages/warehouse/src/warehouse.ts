import { availableParallelism } from 'node:os';
import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import { type Clock, type Duration, durationMillis, systemClock } from '@call-attribution/core/time';
import type { TimeSlice, UpsertSink } from '@call-attribution/node-stream';
import type { CopyVerdict, Erasure, RemovalNote, Removals } from '@call-attribution/node-stream/copies';
import {
  type AccountStatus,
  type Answer,
  type CallSelection,
  checkCount,
  checkQuestion,
  type Question,
  type QuestionLimits,
} from '@call-attribution/questions';
import { analyze, analyzeAll } from './ask/analyze.ts';
import { accountStatuses, readVerdict } from './ask/status.ts';
import { WarehouseError } from './errors.ts';
import { type Gate, gateOf } from './file/gate.ts';
import { memorySession, type OpenOptions, watchFile } from './file/instance.ts';
import type { Session, StatementLimits } from './file/session.ts';
import { addRemovals, eraseCallers, purgeCalls } from './load/erase.ts';
import { type Loaded, type LoadHost, loadParquet } from './load/files.ts';
import type { Merged } from './load/merge.ts';
import { prepare } from './load/prepare.ts';
import { readRemovals } from './load/removed.ts';
import { stagingFolder, WarehouseSink } from './load/sink.ts';
import { type CallsQuery, readCall, readCalls } from './out/calls.ts';
import { type ExportOptions, type ExportSummary, exportDataset } from './out/dataset.ts';
import { runSql, type SqlOptions, type SqlResult, sqlLimits } from './out/query.ts';

/** How a warehouse is opened. */
export interface WarehouseOptions {
  /** Make the file when it does not exist. Default true; without it a missing file is an error. */
  readonly create?: boolean | undefined;
  /** Memory that DuckDB may use, such as `500MB` or `2GB`. Default `600MB`, and `2400MB` to store calls that need it for their long strings. */
  readonly memory?: string | undefined;
  /** Threads of a question. Default: one for each core. Loading always takes one. */
  readonly threads?: number | undefined;
  /** How long to wait for another process that has the file open. Default `10s`. */
  readonly wait?: Duration | undefined;
  /** Calls of a sync that are staged before they go into the database together. Default 245,760. */
  readonly batch?: number | undefined;
  /** The clock that load times are taken from. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/** How many calls there are. */
export type Count = Pick<
  Answer,
  'calls' | 'period' | 'extensions' | 'asOf' | 'accounts' | 'leftOut' | 'notes'
>;

/** Every call of any number of accounts in columns, in one DuckDB file. */
export interface Warehouse extends AsyncDisposable {
  /** The database file. */
  readonly path: string;

  /**
   * Takes the calls of a sync into an account, which need not exist yet. The account belongs to this process until the
   * warehouse is closed.
   *
   * @example
   * await syncInto(client, warehouse.sink('main'), { filter: 'inc_gce:1' });
   */
  sink(account: string): UpsertSink;
  /** Loads calls from anywhere else, such as a file of NDJSON. A call replaces the one with its `sid`. */
  load(account: string, calls: AsyncIterable<Call> | Iterable<Call>): Promise<Merged>;
  /**
   * Loads a folder that `exportParquet` wrote, or other Parquet files with columns named as the fields.
   *
   * @param account the account to load into. Default: the one that the path of each file names.
   */
  loadParquet(path: string, account?: string): Promise<Loaded[]>;

  /**
   * Answers a question: groups, measures, conditions, a period to compare with. Exact at any size; the answer says as of
   * when, how many calls it covers and what it leaves out.
   *
   * @example
   * const { rows } = await warehouse.analyze({
   *   groupBy: ['ppc_campaign'],
   *   measures: ['calls', 'missed_rate', 'callers'],
   *   from: '2026-10-01',
   *   to: '2026-10-31',
   *   compare: 'previous',
   * });
   */
  analyze(question: Question): Promise<Answer>;
  /** The same for several questions, which cost less together. The first `signal` and the first `timeLimit` among them hold for all. */
  analyzeAll(questions: readonly Question[]): Promise<Answer[]>;
  /** How many calls a selection has. */
  count(selection?: CallSelection & QuestionLimits): Promise<Count>;
  /** The calls of a selection exactly as the API sent them. The file is open until the loop ends. */
  calls(query?: CallsQuery): AsyncGenerator<Call, void, undefined>;
  /** One call by its `sid`, or null. */
  get(sid: string, account?: string): Promise<Call | null>;
  /**
   * Runs one statement of SQL: a SELECT or what is like it (DESCRIBE, SHOW, SUMMARIZE, EXPLAIN). It can read the view `calls` and the
   * tables, and nothing else: no files, no extensions, no settings.
   *
   * @example
   * const result = await warehouse.query('select ppc_campaign, count(*) from calls group by all order by 2 desc');
   * for await (const row of result) console.log(row);
   */
  query(sql: string, options?: SqlOptions): Promise<SqlResult>;
  /**
   * Is DuckDB still at work on a statement that was stopped? Nothing interrupts one call of a function: until it is done, the file
   * stays open, and the process can only be ended with SIGKILL.
   */
  readonly isAtWork: boolean;
  /** How many calls each account has, and how fresh they are. */
  lastSync(): Promise<AccountStatus[]>;
  /** What the syncs of an account have proved of the calls of a period, by default of all. Null when none has begun. */
  verdict(account: string, period?: TimeSlice): Promise<CopyVerdict | null>;

  /** Writes calls as `account=.../month=.../part-*.parquet`. Run again, it writes only what has changed. */
  exportParquet(folder: string, options?: ExportOptions): Promise<ExportSummary>;
  /**
   * Deletes the calls of callers by their numbers, written in any way, and keeps later syncs from bringing them back. Only keyed hashes of
   * the numbers stay. Writes the whole file again, so that no byte of these calls is left in it.
   */
  erase(account: string, callers: readonly string[]): Promise<Erasure>;
  /** Deletes calls added before a time (`YYYY-MM-DD HH:MM:SS`) and keeps later syncs from bringing them back. Says how many there were. */
  purge(account: string, before: string): Promise<number>;
  /** What was erased and purged from an account. A copy of its calls takes `note` with it; `exportParquet` does. */
  removals(account: string): Promise<Removals>;
  /**
   * Takes over what was removed from a copy whose calls come into this account, and deletes the calls of callers who were erased there.
   * Where the account has calls from before a purge, they stay. Says how many were deleted. `loadParquet` does so.
   */
  addRemovals(account: string, note: RemovalNote): Promise<number>;
  /** Stores what is staged and gives accounts free for other processes. */
  close(): Promise<void>;
}

const usualTimeLimit = 60_000;
const limitsOf = ({ timeLimit = usualTimeLimit, ...limits }: StatementLimits): StatementLimits => ({
  ...limits,
  timeLimit,
});

/** The first is enough unless calls have very long strings. */
const usualMemories = ['600MB', '2400MB'] as const;

/**
 * Opens a warehouse; the file is made when it does not exist. The file is open only while something is read or written, and for
 * three seconds after a question, unless another process is about to write. So any number of processes can use it in turn.
 *
 * @example
 * const warehouse = await openWarehouse('calls.duckdb');
 * await syncInto(client, warehouse.sink('main'), { filter: 'inc_gce:1' });
 * console.log(await warehouse.analyze({ groupBy: ['month'], measures: ['calls', 'missed_rate'] }));
 * await warehouse.close();
 */
export async function openWarehouse(path: string, options: WarehouseOptions = {}): Promise<Warehouse> {
  // To DuckDB, `:memory:` is a database that ends with its session. Any other name is opened as a file.
  if (path === '' || path === ':memory:')
    throw new ConfigurationError('invalid_option', 'path must be the path of a file.');
  const {
    create = true,
    memory,
    threads = availableParallelism(),
    batch = 245_760,
    clock = systemClock,
  } = options;
  const wait = durationMillis(options.wait ?? '10s', 'wait');
  const memories = memory === undefined ? usualMemories : ([memory] as const);
  let watch: (() => void) | undefined;
  const opening: OpenOptions = { memory: memories[0], threads, wait, check: () => watch?.() };
  const gate = gateOf(path);
  const ask: Ask = (body, limits = {}) => gate.use('ask', opening, body, limitsOf(limits));
  const { host, close } = createHost(path, gate, opening, { batch, clock, memories });
  await prepare(host, create, ask);
  watch = watchFile(path);
  return {
    path,
    sink: host.sink,
    load: (account, calls) => host.sink(account).addAll(calls),
    loadParquet(files, account) {
      if (account !== undefined) checkAccount(account);
      return loadParquet(host, files, account);
    },
    ...questionMethods(gate, opening, ask),
    get isAtWork() {
      return gate.isAtWork;
    },
    exportParquet: (folder, { signal, ...rest } = {}) =>
      exportDataset(
        (body) => gate.use('export', { ...opening, reach: { folders: [folder] } }, body, { signal }),
        folder,
        rest,
        { path, clock },
      ),
    ...removalMethods(host),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Runs a question in a session of its own. */
type Ask = <T>(body: (session: Session) => Promise<T>, limits?: StatementLimits) => Promise<T>;

/** What loading needs, and the end of it: calls that are staged are stored, accounts are given free. */
function createHost(
  path: string,
  gate: Gate,
  opening: OpenOptions,
  options: Pick<LoadHost, 'batch' | 'clock' | 'memories'>,
): { readonly host: LoadHost; readonly close: () => Promise<void> } {
  const sinks = new Map<string, WarehouseSink>();
  const host: LoadHost = {
    path,
    ...options,
    write(body, { wait = opening.wait, memory = opening.memory, reach = {} } = {}) {
      const folders = [stagingFolder(path), ...(reach.folders ?? [])];
      return gate.use('write', { ...opening, memory, wait, reach: { ...reach, folders } }, body);
    },
    files: (reach) => memorySession(path, { ...opening, reach }),
    sink(account) {
      checkAccount(account);
      let sink = sinks.get(account);
      if (sink === undefined) {
        sink = new WarehouseSink(host, account);
        sinks.set(account, sink);
      }
      return sink;
    },
  };
  const close = async () => {
    for (const sink of sinks.values()) await sink.close();
    await gate.close();
  };
  return { host, close };
}

function removalMethods(host: LoadHost) {
  return {
    async erase(account, callers) {
      checkAccount(account);
      return eraseCallers(host, account, callers);
    },
    async purge(account, before) {
      checkAccount(account);
      return purgeCalls(host, account, before);
    },
    async addRemovals(account, note) {
      checkAccount(account);
      return addRemovals(host, account, note);
    },
  } satisfies Partial<Warehouse>;
}

function questionMethods(gate: Gate, opening: OpenOptions, ask: Ask) {
  return {
    async analyze(question) {
      const limits = checkQuestion(question);
      return ask((session) => analyze(session, question), limits);
    },
    async analyzeAll(questions) {
      const all = questions.map(checkQuestion);
      const { signal } = all.find((limits) => limits.signal !== undefined) ?? {};
      const { timeLimit } = all.find((limits) => limits.timeLimit !== undefined) ?? {};
      return ask((session) => analyzeAll(session, questions), { signal, timeLimit });
    },
    async count(selection = {}) {
      const limits = checkCount(selection);
      const answer = await ask((session) => analyze(session, selection), limits);
      const { calls, period, extensions, asOf, accounts, leftOut, notes } = answer;
      return { calls, period, extensions, asOf, accounts, leftOut, notes };
    },
    async *calls(asked = {}) {
      const { signal, ...query } = asked;
      const session = await gate.open('ask', opening, { signal });
      try {
        yield* readCalls(session, query);
      } finally {
        await session.close();
      }
    },
    async get(sid, account) {
      return ask((session) => readCall(session, sid, account));
    },
    async query(sql, options = {}) {
      const limits = sqlLimits(options, opening.memory);
      return runSql(await gate.open('ask', opening, limitsOf(limits)), sql);
    },
    removals: (account) => ask((session) => readRemovals(session, account)),
    lastSync: () => ask((session) => accountStatuses(session)),
    verdict: (account, period) => ask((session) => readVerdict(session, account, period)),
  } satisfies Partial<Warehouse>;
}

function checkAccount(account: string): void {
  if (isAccountName(account)) return;
  throw new WarehouseError(
    'unknown_account',
    `${JSON.stringify(account)} cannot be the name of an account: expected ${accountNameWords}.`,
  );
}
