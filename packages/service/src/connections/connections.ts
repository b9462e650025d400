import type { Socket } from 'node:net';
import { countedAddress, proxyCheck } from './addresses.ts';
import { type ClosedFor, type Connection, notePace, slowMs } from './connection.ts';
import type { ConnectionLimits } from './limits.ts';
import { createResponseMemory, type ResponseMemory } from './memory.ts';

/** The reason of `gone`: one for all, since an error for each of many clients would cost time. */
const hasLeft = new Error('The client has left.');
/** How often connections are checked for clients that are too slow. */
const checkMs = 250;
/** A connection that is younger, or whose last response is, may be about to send a request. */
const youngMs = 250;

/** Keeps the connections of one server within its limits. `onMemory` is called when responses may have memory again. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #isProxy: (address: string) => boolean;
  readonly #onClosed: (reason: ClosedFor) => void;
  readonly #onMemory: () => void;
  readonly #all = new Set<Connection>();
  readonly #perAddress = new Map<string, number>();
  readonly #listeners = new WeakMap<Connection, () => void>();
  readonly #memory: ResponseMemory;
  readonly #timer: NodeJS.Timeout;

  constructor(
    limits: ConnectionLimits,
    proxies: readonly string[],
    onClosed: (reason: ClosedFor) => void,
    onMemory: () => void,
  ) {
    this.#limits = limits;
    this.#isProxy = proxyCheck(proxies);
    this.#onClosed = onClosed;
    this.#onMemory = onMemory;
    const tooMuch = (connection: Connection) => this.#close(connection, 'unsent_bytes');
    this.#memory = createResponseMemory(limits.unsentBytes, tooMuch, onMemory);
    const often = Math.min(checkMs, limits.handshakeTimeout, limits.sendTimeout);
    this.#timer = setInterval(() => this.#check(), often).unref();
  }

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Adds a connection. To stay within the limits it may close others, or the new one: then it returns null. */
  open(socket: Socket, isSecure: boolean, from = socket.remoteAddress): Connection | null {
    // It has gone already.
    if (from === undefined) {
      socket.destroy();
      return null;
    }
    const connection = this.#connectionOf(socket, isSecure, from);
    const { address } = connection;
    this.#all.add(connection);
    const fromHere = (this.#perAddress.get(address) ?? 0) + 1;
    this.#perAddress.set(address, fromHere);
    const onClose = (): void => {
      this.#remove(connection);
      connection.leave();
    };
    socket.once('close', onClose);
    this.#listeners.set(connection, onClose);
    // Without an address, nothing tells clients apart.
    if (!connection.isProxy && address !== '' && fromHere > this.#limits.connectionsPerAddress) {
      const same = [...this.#all].filter((other) => other.address === address);
      this.#makeSpace(same, 'address', connection);
    }
    if (this.#all.size > this.#limits.connections)
      this.#makeSpace(busiestAddress(this.#all), 'total', connection);
    return this.#all.has(connection) ? connection : null;
  }

  /** Forgets a connection that goes on without the service. */
  release(connection: Connection): void {
    this.#remove(connection);
    const onClose = this.#listeners.get(connection);
    if (onClose !== undefined) connection.socket.off('close', onClose);
  }

  /** Counts a handshake that starts, and closes another one when there are too many. */
  startHandshake(connection: Connection): void {
    connection.state = 'handshake';
    const running = [...this.#all].filter(({ state }) => state === 'handshake');
    if (running.length > this.#limits.handshakes)
      this.#makeSpace(busiestAddress(running), 'handshakes', connection);
  }

  /** Notes that a connection has come into a state. */
  enter(connection: Connection, state: Connection['state']): void {
    connection.served ||= state === 'idle' && connection.state === 'busy';
    connection.state = state;
    connection.since = performance.now();
  }

  /** Closes all connections without a request in progress. */
  closeIdle(): void {
    for (const connection of this.#all) if (connection.state !== 'busy') connection.socket.destroy();
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const { socket } of this.#all) socket.destroy();
  }

  /** Ends the checks. */
  close(): void {
    clearInterval(this.#timer);
    this.#onMemory();
  }

  #connectionOf(socket: Socket, isSecure: boolean, from: string): Connection {
    const gone = new AbortController();
    const connection: Connection = {
      socket,
      stream: socket,
      address: countedAddress(from),
      isProxy: this.#isProxy(from),
      gone: gone.signal,
      leave: () => gone.abort(hasLeft),
      hold: (bytes) => this.#memory.hold(connection, this.#all.has(connection) ? bytes : 0),
      hasMemory: () => this.#memory.isFreeFor(connection),
      state: isSecure ? 'silent' : 'idle',
      since: performance.now(),
      served: false,
      held: 0,
      taken: 0,
      stalledSince: null,
    };
    return connection;
  }

  #close(connection: Connection, reason: ClosedFor): void {
    if (!this.#all.has(connection)) return;
    this.#onClosed(reason);
    this.#remove(connection);
    connection.socket.destroy();
  }

  #remove(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    const left = (this.#perAddress.get(connection.address) ?? 1) - 1;
    if (left === 0) this.#perAddress.delete(connection.address);
    else this.#perAddress.set(connection.address, left);
    this.#memory.hold(connection, 0);
  }

  /** Closes the connection whose loss hurts least, so that there is space for another one. */
  #makeSpace(candidates: readonly Connection[], reason: ClosedFor, newest: Connection): void {
    const latest = candidates.includes(newest)
      ? newest
      : candidates.findLast(({ state }) => state !== 'busy');
    this.#close(leastUseful(candidates, newest) ?? latest ?? newest, reason);
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#all) {
      const { state, since } = connection;
      if (state === 'silent' || state === 'handshake') {
        if (now - since > this.#limits.handshakeTimeout) this.#close(connection, 'handshake_timeout');
        continue;
      }
      notePace(connection, now);
      const stalled = connection.stalledSince;
      if (stalled !== null && now - stalled > this.#limits.sendTimeout)
        this.#close(connection, 'slow_reader');
    }
    // Clients that have stopped reading can be closed by now.
    this.#onMemory();
  }
}

/** The connections of the address that has most of them. */
function busiestAddress(connections: Iterable<Connection>): Connection[] {
  const groups = new Map<string, Connection[]>();
  let most: Connection[] = [];
  for (const connection of connections) {
    const group = groups.get(connection.address) ?? [];
    groups.set(connection.address, group);
    if (group.push(connection) > most.length) most = group;
  }
  return most;
}

/**
 * First those that never sent a request, then those between two requests, then those whose clients do not read, each time the
 * one that has waited longest. Null when all others are at work or have just come.
 */
function leastUseful(candidates: Iterable<Connection>, except: Connection): Connection | null {
  const now = performance.now();
  let best: Connection | null = null;
  let bestRank = 3;
  for (const connection of candidates) {
    if (connection === except) continue;
    const rank = rankOf(connection, now);
    if (rank < bestRank || (rank === bestRank && best !== null && connection.since < best.since)) {
      best = connection;
      bestRank = rank;
    }
  }
  return best;
}

function rankOf({ state, since, served, stalledSince }: Connection, now: number): number {
  // What a new connection has sent may not have been read yet.
  if (state !== 'busy') return now - since < youngMs ? 3 : served ? 1 : 0;
  return stalledSince !== null && now - stalledSince > slowMs ? 2 : 3;
}
