import { type Connection, notePace, slowMs } from './connection.ts';

/** Counts the memory of responses that clients have not taken yet, and keeps it within a limit. */
export interface ResponseMemory {
  /** Notes how many bytes of a response are in memory. */
  hold(connection: Connection, bytes: number): void;
  /** Is there memory for another response? May close a client that does not read to make it so. */
  isFreeFor(connection: Connection): boolean;
}

/** An address that holds less than this share of the limit does not wait for those that hold more. */
const smallShare = 1 / 64;
/** What all such addresses may hold together beyond the limit, as a share of it. */
const reserve = 1 / 4;

/** Memory for the responses of one server. `onFreed` is called when there may be enough again. */
export function createResponseMemory(
  limit: number,
  close: (connection: Connection) => void,
  onFreed: () => void,
): ResponseMemory {
  const holders = new Set<Connection>();
  const perAddress = new Map<string, number>();
  let total = 0;

  /**
   * The connection to close, so that somebody else gets memory: of those that have taken nothing for a while, one at the address
   * that holds most, and there the one that has waited longest.
   */
  const slowest = (): Connection | null => {
    const now = performance.now();
    let found: Connection | null = null;
    let most = 0;
    for (const connection of holders) {
      notePace(connection, now);
      const { stalledSince } = connection;
      if (stalledSince === null || now - stalledSince < slowMs) continue;
      const share = perAddress.get(connection.address) ?? 0;
      if (share < most || (share === most && stalledSince >= (found?.stalledSince ?? now))) continue;
      found = connection;
      most = share;
    }
    return found;
  };

  return {
    hold(connection, bytes) {
      const added = bytes - connection.held;
      if (added === 0) return;
      const share = (perAddress.get(connection.address) ?? 0) + added;
      if (share > 0) perAddress.set(connection.address, share);
      else perAddress.delete(connection.address);
      if (bytes > 0) holders.add(connection);
      else holders.delete(connection);
      connection.held = bytes;
      total += added;
      if (added < 0) onFreed();
    },
    isFreeFor(connection) {
      // A response in progress gives its memory back by going on.
      if (total < limit || connection.held > 0) return true;
      const share = perAddress.get(connection.address) ?? 0;
      if (share < limit * smallShare && total < limit * (1 + reserve)) return true;
      for (let victim = slowest(); victim !== null; victim = slowest()) {
        close(victim);
        if (total < limit) return true;
      }
      return false;
    },
  };
}
