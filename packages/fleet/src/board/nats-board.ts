import { setTimeout } from 'node:timers/promises';
import type { JsMsg, StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Board, BoardEntry } from './board.ts';
import { BoardClock } from './board-clock.ts';
import type { BoardOptions } from './board-options.ts';
import { LiveCopy } from './live-copy.ts';
import { type NatsBucket, openBucket } from './nats-bucket.ts';
import { connectNats, loadNats, type NatsModules, type NatsServers, natsServers } from './nats-connection.ts';
import { isUnheard, natsDenial, natsRefusal } from './nats-refusal.ts';
import { type NatsWatcher, watchBucket } from './nats-watch.ts';
import { type BoardServer, type Stored, servedBoard, type WriteReply } from './served-board.ts';

/** Opens the board of a job on NATS: the bucket `FLEET_<job>`, which is created when there is none. */
export async function natsBoard(url: string, job: string, options: BoardOptions): Promise<Board> {
  const place = natsServers(url);
  const modules = await loadNats();
  const [copy, clock] = [new LiveCopy(), new BoardClock()];
  const server = new NatsServer(modules, place, job, options, copy, clock);
  await server.open();
  return servedBoard(place.name, server, copy, clock);
}

/** The header that tells writes apart. */
const nonceHeader = 'Fleet-Write';
const timeoutMs = 2_000;
/** Writes whose number is compared. */
const mostWritten = 200;
const againMs = 300;
const refusedAgainMs = 5_000;

/** Wrong last sequence, with and without its number. */
const wrongRevision: ReadonlySet<number> = new Set([10071, 10164]);

/** Keeps a connection and a watch going. */
class NatsServer implements BoardServer {
  readonly #modules: NatsModules;
  readonly #place: NatsServers;
  readonly #job: string;
  readonly #options: BoardOptions;
  readonly #copy: LiveCopy;
  readonly #clock: BoardClock;
  readonly #ending = new AbortController();
  /** Keys that somebody has deleted with another program, with the revision of the marker. */
  readonly #deleted = new Map<string, number>();
  /** Own writes by their nonce, with their number once it is known. */
  readonly #written = new Map<string, number>();
  #running: Promise<void> | undefined;
  #connection: NatsConnection | undefined;
  #bucket: NatsBucket | undefined;
  #isConnected = false;
  #trouble: unknown = null;
  #endWatch: (() => void) | undefined;

  constructor(
    modules: NatsModules,
    place: NatsServers,
    job: string,
    options: BoardOptions,
    copy: LiveCopy,
    clock: BoardClock,
  ) {
    this.#modules = modules;
    this.#place = place;
    this.#job = job;
    this.#options = options;
    this.#copy = copy;
    this.#clock = clock;
  }

  /** Resolves once the live copy is whole. */
  async open(): Promise<void> {
    const { signal, onWaiting } = this.#options;
    const abort = (): void => this.#ending.abort(signal?.reason);
    signal?.addEventListener('abort', abort);
    const waiting = globalThis.setTimeout(
      () => onWaiting?.(this.#place.name, waitsFor(this.#trouble)),
      2_000,
    );
    try {
      await new Promise<void>((ready, fail) => {
        this.#running = this.#run(ready).catch(fail);
      });
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(waiting);
      signal?.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#connection?.close();
    await this.#running;
  }

  async put(key: string, text: string, revision: number, nonce: string): Promise<WriteReply> {
    const [connection, bucket] = [this.#connection, this.#bucket];
    // The client keeps what it cannot send and sends it later, when nobody waits for it.
    if (connection === undefined || bucket === undefined || !this.#isConnected)
      return { kind: 'away', cause: this.#trouble };
    const { JetStreamApiError } = this.#modules.jetstream;
    const expected = revision === 0 ? (this.#deleted.get(key) ?? 0) : revision;
    const headers = this.#modules.transport.headers();
    headers.set(nonceHeader, nonce);
    this.#written.set(nonce, this.#written.get(nonce) ?? 0);
    for (const [oldest] of this.#written) if (this.#written.size > mostWritten) this.#written.delete(oldest);
    try {
      const { seq, duplicate } = await bucket.client.publish(bucket.prefix + key, text, {
        // A cluster checks the expected sequence before it agrees on the order of writes and lets several through; ids of
        // messages are checked afterwards. Both together decide races (nats-server #4320).
        msgID: `${key}@${expected}`,
        expect: { lastSubjectSequence: expected },
        headers,
        timeout: timeoutMs,
        retries: 0,
      });
      if (duplicate) return { kind: 'lost' };
      this.#compare(nonce, seq);
      return { kind: 'won', revision: seq, at: this.#clock.now() };
    } catch (cause) {
      if (cause instanceof JetStreamApiError && wrongRevision.has(cause.code)) return { kind: 'lost' };
      const error = natsDenial(this.#modules, this.#place.name, this.#job, cause);
      if (error !== null) return { kind: 'refused', error };
      return { kind: isUnheard(cause) ? 'away' : 'unknown', cause };
    }
  }

  async read(key: string): Promise<Stored | null> {
    const bucket = this.#bucket;
    if (bucket === undefined || !this.#isConnected) return null;
    try {
      const found = await bucket.manager.streams.getMessage(bucket.stream, {
        last_by_subj: bucket.prefix + key,
      });
      if (found === null) return { revision: 0, entry: null, nonce: null };
      const entry = entryOf(key, found);
      if (entry === null) this.#forget(key, found.seq);
      return { revision: entry?.revision ?? 0, entry, nonce: found.header?.get(nonceHeader) || null };
    } catch {
      return null;
    }
  }

  /** Connects and watches until the board is closed. Fails only before it was ready. */
  async #run(ready: () => void): Promise<void> {
    const { signal } = this.#ending;
    let isReady = false;
    for (;;) {
      let pauseMs = againMs;
      try {
        signal.throwIfAborted();
        await this.#follow(await this.#connected(), () => {
          isReady = true;
          ready();
        });
      } catch (error) {
        if (isReady && signal.aborted) return;
        if (signal.aborted) throw signal.reason;
        const hasJetStream = this.#connection?.info?.jetstream === true;
        const refusal = natsRefusal(this.#modules, this.#place.name, this.#job, error, hasJetStream);
        if (!isReady && refusal !== null) throw refusal;
        if (refusal !== null) pauseMs = refusedAgainMs;
        this.#trouble = error;
      }
      await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #connected(): Promise<NatsConnection> {
    const known = this.#connection;
    if (known !== undefined && !known.isClosed()) return known;
    const connection = await connectNats(this.#modules, this.#place, this.#options, this.#ending.signal);
    this.#connection = connection;
    this.#isConnected = true;
    void this.#listen(connection);
    return connection;
  }

  async #listen(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#isConnected = false;
      if (type !== 'reconnect') continue;
      this.#isConnected = true;
      this.#endWatch?.();
    }
    this.#isConnected = false;
    this.#endWatch?.();
  }

  /** Fills the live copy from the bucket and follows its changes, until something goes wrong. */
  async #follow(connection: NatsConnection, onReady: () => void): Promise<void> {
    const copy = this.#copy;
    const bucket = await openBucket(
      this.#modules,
      connection,
      this.#place,
      this.#job,
      this.#options.replicas,
    );
    // What the leader says now is the truth, also where it has less than it had before: data can be lost.
    const isAgain = this.#bucket !== undefined;
    this.#bucket = bucket;
    this.#written.clear();
    const seen = new Set<string>();
    const watch = new AbortController();
    this.#endWatch = () => watch.abort();
    const { signal } = this.#ending;
    signal.addEventListener('abort', this.#endWatch);
    const watcher: NatsWatcher = {
      onTime: (at) => this.#clock.sample(at),
      onMessage: (message, isChange) => {
        const key = message.subject.slice(bucket.prefix.length);
        seen.add(key);
        const entry = entryOf(key, message);
        this.#compare(message.headers?.get(nonceHeader) ?? '', message.seq);
        if (isChange) this.#clock.sample(message.time.getTime());
        if (entry === null) this.#forget(key, message.seq);
        else if (isAgain && !isChange) copy.correct(entry);
        else copy.take(entry);
      },
      onReady: () => {
        if (isAgain) for (const { key } of [...copy.entries('')]) if (!seen.has(key)) copy.forget(key);
        this.#trouble = null;
        onReady();
      },
    };
    try {
      await watchBucket(this.#modules, bucket, watcher, watch.signal);
    } finally {
      signal.removeEventListener('abort', this.#endWatch);
    }
  }

  /** An own write has a number in its answer, and one in the watch. Where they differ, the watch has lost the leader. */
  #compare(nonce: string, seq: number): void {
    const known = this.#written.get(nonce);
    if (known === undefined) return;
    if (known === 0) this.#written.set(nonce, seq);
    else this.#written.delete(nonce);
    if (known !== 0 && known !== seq) this.#endWatch?.();
  }

  #forget(key: string, revision: number): void {
    this.#deleted.set(key, revision);
    if ((this.#copy.get(key)?.revision ?? 0) < revision) this.#copy.forget(key);
  }
}

const waitsFor = (trouble: unknown): string =>
  trouble instanceof Error ? trouble.message : 'it does not answer';

/** An entry as it is on the server; null for a marker of a deleted one, or something that we did not write. */
function entryOf(key: string, message: JsMsg | StoredMsg): BoardEntry | null {
  try {
    return { key, value: message.json(), revision: message.seq, at: message.time.getTime() };
  } catch {
    return null;
  }
}
