import type { Socket } from 'node:net';
import { countedAddress, proxyCheck } from './addresses.ts';
import { type ClosedFor, type Connection, notePace, slowMs } from './connection.ts';
import type { ConnectionLimits } from './limits.ts';
import { createResponseMemory } from './memory.ts';

/** The connections of one server. */
export interface Connections {
  /** Adds a connection. To stay within the limits it may close others, or the new one: then it returns null. */
  open(socket: Socket, isSecure: boolean, from?: string): Connection | null;
  /** Forgets a connection that goes on without the service. */
  release(connection: Connection): void;
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

/** Keeps the connections of one server within its limits. `onMemory` is called when responses may have memory again. */
export function createConnections(
  limits: ConnectionLimits,
  proxies: readonly string[],
  onClosed: (reason: ClosedFor) => void,
  onMemory: () => void,
): Connections {
  const isProxy = proxyCheck(proxies);
  const all = new Set<Connection>();
  const perAddress = new Map<string, number>();
  const listeners = new WeakMap<Connection, () => void>();
  const memory = createResponseMemory(
    limits.unsentBytes,
    (connection) => close(connection, 'unsent_bytes'),
    onMemory,
  );

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
    memory.hold(connection, 0);
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
    // Clients that have stopped reading can be closed by now.
    onMemory();
  };
  const timer = setInterval(check, Math.min(checkMs, limits.handshakeMs, limits.sendMs)).unref();

  return {
    get size() {
      return all.size;
    },
    open(socket, isSecure, from = socket.remoteAddress) {
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
        hold: (bytes) => memory.hold(connection, all.has(connection) ? bytes : 0),
        hasMemory: () => memory.isFreeFor(connection),
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
      const onClose = (): void => {
        remove(connection);
        connection.leave();
      };
      socket.once('close', onClose);
      listeners.set(connection, onClose);
      // Without an address, nothing tells clients apart.
      if (!connection.isProxy && connection.address !== '' && fromHere > limits.connectionsPerAddress) {
        makeSpace(
          [...all].filter(({ address }) => address === connection.address),
          'address',
          connection,
        );
      }
      if (all.size > limits.connections) makeSpace(busiestAddress(all), 'total', connection);
      return all.has(connection) ? connection : null;
    },
    release(connection) {
      remove(connection);
      const onClose = listeners.get(connection);
      if (onClose !== undefined) connection.socket.off('close', onClose);
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
      onMemory();
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
