// What is used of pg-boss 12.38, as its documentation has it. The package is not installed here: it asks for Node.js 22.12, and the
// oldest Node.js of this repository would print a warning with each install.

/** Runs statements. */
export interface Sql {
  executeSql(text: string, values?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** A job of a queue. */
export interface BossJob {
  readonly id: string;
  readonly data: unknown;
  readonly singletonKey: string | null;
  readonly retryCount: number;
}

/** A job as it was fetched: nothing is done to a later attempt. */
interface Attempt {
  readonly id: string;
  readonly retryCount: number;
}

interface SendOptions {
  readonly singletonKey?: string;
  readonly startAfter?: Date;
  readonly db?: Sql;
}

/** The methods that the engine calls. */
export interface PgBoss {
  on(event: 'error' | 'warning', listener: (value: unknown) => void): unknown;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  createQueue(name: string, options: Readonly<Record<string, unknown>>): Promise<void>;
  insert(
    name: string,
    jobs: readonly { readonly data: object; readonly singletonKey: string; readonly startAfter: Date }[],
  ): Promise<unknown>;
  send(name: string, data: object, options: SendOptions): Promise<string | null>;
  update(name: string, data: object, options: SendOptions & { readonly id: string }): Promise<unknown>;
  upsert(name: string, data: object, options: SendOptions): Promise<unknown>;
  fetch(
    name: string,
    options: { readonly batchSize: number; readonly includeMetadata: true },
  ): Promise<BossJob[]>;
  touch(name: string, jobs: readonly Attempt[]): Promise<{ readonly settled?: readonly string[] }>;
  deleteJob(
    name: string,
    job: string | Attempt,
    options?: { readonly db?: Sql },
  ): Promise<{ readonly affected: number }>;
  findJobs(name: string, options: { readonly key: string; readonly db?: Sql }): Promise<BossJob[]>;
}

/** The module. */
export interface BossLibrary {
  readonly PgBoss: new (options: Readonly<Record<string, unknown>>) => PgBoss;
}
