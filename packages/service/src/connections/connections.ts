import type { Socket } from 'node:net';
import { countedAddress, proxyCheck } from './addresses.ts';
import type { ConnectionLimits } from './limits.ts';

/** Why the service closed a connection. */
export type ClosedFor =
  | 'address'
  | 'total'
  | 'handshakes'
  | 'handshake_timeout'
  | 'slow_reader'
  | 'unsent_bytes';

/** One connection of a server. */
export interface Connection {
  /** The socket as it was accepted, below TLS. */
  readonly socket: Socket;
  /** The socket that carries HTTP: the one of TLS after the handshake. */
  stream: Socket;
  /** Address by which it is counted. */
  readonly address: string;
  /** Does it come from a proxy that the operator has named? */
  readonly isProxy: boolean;
  /** Aborted when the client disconnects or is disconnected. */
  readonly gone: AbortSignal;
  /** Aborts `gone`. */
  readonly leave: () => void;
  /** Notes how many bytes of its response are in memory until the client takes them. */
  readonly hold: (bytes: number) => void;
  /** Do the responses of all connections take less memory than allowed? May close the slowest readers to make it so. */
  readonly findSpace: () => boolean;
  /** Resolves when it is worth trying again. */
  readonly spaceFreed: () => Promise<void>;
  /** `silent`: no byte of TLS yet; `handshake`; `idle`: ready for a request; `busy`: a request is in progress. */
  state: 'silent' | 'handshake' | 'idle' | 'busy';
  /** When it got into this state. */
  since: number;
  /** Has it ever had a response? */
  served: boolean;
  /** Bytes of its response that are in memory. */
  held: number;
  /** Bytes that the client has taken, and since when it has taken no more; null while nothing waits for it. */
  taken: number;
  stalledSince: number | null;
}

/** The connections of one server. */
export interface Connections {
  /** Adds a connection. To stay within the limits it may close others, or the new one: then it returns null. */
  open(socket: Socket, isSecure: boolean): Connection | null;
  /** Counts a handshake that starts, and closes another one when there are too many. */
  startHandshake(connection: Connection): void;
  /** Notes that a connection has come into a state. */
  enter(connection: Connection, state: Connection['state']): void;
  /** Closes all connections without a request in progress. */
  closeIdle(): void;
  /** Closes all connections. */
  closeAll(): void;
  /** Ends the checks. */
  end(): void;
  /** How many there are. */
  readonly size: number;
}

/** The reason of `gone`: one for all, since an error for each of many clients would cost time. */
const hasLeft = new Error('The client has left.');
/** How often connections are checked for clients that are too slow. */
const checkMs = 250;
/** A connection that is younger, or whose last response is, may be about to send a request. */
const youngMs = 250;
/** A client that has taken nothing for this long may be closed to make space for others. */
const slowMs = 500;

/** Keeps the connections of one server within its limits. */
export function createConnections(
  limits: ConnectionLimits,
  proxies: readonly string[],
  onClosed: (reason: ClosedFor) => void,
): Connections {
  const isProxy = proxyCheck(proxies);
  const all = new Set<Connection>();
  const perAddress = new Map<string, number>();
  let heldBytes = 0;
  const waiters: (() => void)[] = [];

  const close = (connection: Connection, reason: ClosedFor): void => {
    if (!all.has(connection)) return;
    onClosed(reason);
    remove(connection);
    connection.socket.destroy();
  };

  const remove = (connection: Connection): void => {
    if (!all.delete(connection)) return;
    const left = (perAddress.get(connection.address) ?? 1) - 1;
    if (left === 0) perAddress.delete(connection.address);
    else perAddress.set(connection.address, left);
    hold(connection, 0);
  };

  const hold = (connection: Connection, bytes: number): void => {
    const added = (all.has(connection) ? bytes : 0) - connection.held;
    connection.held += added;
    heldBytes += added;
    if (added < 0) wake();
  };

  const findSpace = (connection: Connection): boolean => {
    // A response in progress gives its memory back by going on.
    if (connection.held > 0) return true;
    while (heldBytes > limits.unsentBytes) {
      const held = heldPerAddress(all);
      const own = held.get(connection.address) ?? 0;
      const slowest = slowestReader(all, held, own);
      // Whoever holds little does not wait for those who hold much.
      if (slowest === null) return own < limits.unsentBytes / 20 && heldBytes < limits.unsentBytes * 2;
      close(slowest, 'unsent_bytes');
    }
    return true;
  };

  const wake = (): void => {
    for (const resume of waiters.splice(0, 16)) resume();
  };

  /** Closes the connection whose loss hurts least, so that there is space for another one. */
  const makeSpace = (candidates: readonly Connection[], reason: ClosedFor, newest: Connection): void => {
    const latest = candidates.includes(newest)
      ? newest
      : candidates.findLast(({ state }) => state !== 'busy');
    close(leastUseful(candidates, newest) ?? latest ?? newest, reason);
  };

  const check = (): void => {
    const now = performance.now();
    for (const connection of all) {
      const { state, since } = connection;
      if (state === 'silent' || state === 'handshake') {
        if (now - since > limits.handshakeMs) close(connection, 'handshake_timeout');
        continue;
      }
      notePace(connection, now);
      const stalled = connection.stalledSince;
      if (stalled !== null && now - stalled > limits.sendMs) close(connection, 'slow_reader');
    }
    wake();
  };
  const timer = setInterval(check, Math.min(checkMs, limits.handshakeMs, limits.sendMs)).unref();

  return {
    get size() {
      return all.size;
    },
    open(socket, isSecure) {
      const from = socket.remoteAddress;
      // It has gone already.
      if (from === undefined) {
        socket.destroy();
        return null;
      }
      const gone = new AbortController();
      const connection: Connection = {
        socket,
        stream: socket,
        address: countedAddress(from),
        isProxy: isProxy(from),
        gone: gone.signal,
        leave: () => gone.abort(hasLeft),
        hold: (bytes) => hold(connection, bytes),
        findSpace: () => findSpace(connection),
        spaceFreed: () => new Promise((resume) => waiters.push(resume)),
        state: isSecure ? 'silent' : 'idle',
        since: performance.now(),
        served: false,
        held: 0,
        taken: 0,
        stalledSince: null,
      };
      all.add(connection);
      const fromHere = (perAddress.get(connection.address) ?? 0) + 1;
      perAddress.set(connection.address, fromHere);
      socket.once('close', () => {
        remove(connection);
        connection.leave();
      });
      if (!connection.isProxy && fromHere > limits.connectionsPerAddress) {
        makeSpace(
          [...all].filter(({ address }) => address === connection.address),
          'address',
          connection,
        );
      }
      if (all.size > limits.connections) makeSpace(busiestAddress(all), 'total', connection);
      return all.has(connection) ? connection : null;
    },
    startHandshake(connection) {
      connection.state = 'handshake';
      const running = [...all].filter(({ state }) => state === 'handshake');
      if (running.length > limits.handshakes) makeSpace(busiestAddress(running), 'handshakes', connection);
    },
    enter(connection, state) {
      connection.served ||= state === 'idle' && connection.state === 'busy';
      connection.state = state;
      connection.since = performance.now();
    },
    closeIdle() {
      for (const connection of all) if (connection.state !== 'busy') connection.socket.destroy();
    },
    closeAll() {
      for (const { socket } of all) socket.destroy();
    },
    end() {
      clearInterval(timer);
      wake();
    },
  };
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

function heldPerAddress(connections: Iterable<Connection>): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { address, held } of connections)
    if (held > 0) sums.set(address, (sums.get(address) ?? 0) + held);
  return sums;
}

/**
 * The connection to close so that someone gets memory who holds `own` bytes: at the address that holds most, the one whose
 * client has taken nothing for longest. That has to be a while, unless the other holds much less.
 */
function slowestReader(
  connections: Iterable<Connection>,
  held: ReadonlyMap<string, number>,
  own: number,
): Connection | null {
  const most = Math.max(...held.values());
  const now = performance.now();
  const before = own * 2 < most ? now : now - slowMs;
  let slowest: Connection | null = null;
  for (const connection of connections) {
    if (connection.held === 0 || held.get(connection.address) !== most) continue;
    notePace(connection, now);
    const { stalledSince } = connection;
    if (stalledSince === null || stalledSince > before) continue;
    if (slowest === null || stalledSince < (slowest.stalledSince ?? 0)) slowest = connection;
  }
  return slowest;
}

/** Compares what the client has taken with the last check. */
function notePace(connection: Connection, now: number): void {
  const { bytesWritten, writableLength } = connection.stream;
  const taken = bytesWritten - writableLength;
  if (writableLength === 0) connection.stalledSince = null;
  else if (taken > connection.taken || connection.stalledSince === null) connection.stalledSince = now;
  connection.taken = taken;
}
