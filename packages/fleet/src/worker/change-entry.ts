import type { Board, BoardEntry, Json } from '../board/board.ts';
import { FleetError } from '../errors.ts';

/**
 * Changes a value on the board, again from its newest state when somebody else was first. Null: `change` saw nothing to do, or
 * there is no such value. Throws `board_unavailable` when it is not known whether the value was written.
 *
 * @example
 * await changeEntry<AccountValue>(board, accountKey(id), (account) =>
 *   account.by === holder ? synced(account, counts, board.now(), every) : null,
 * );
 */
export async function changeEntry<T>(
  board: Board,
  key: string,
  change: (value: T) => T | null,
): Promise<BoardEntry<T> | null> {
  for (let round = 0; round < rounds; round += 1) {
    const entry = board.get(key);
    const next = entry === undefined ? null : change(entry.value as T);
    if (entry === undefined || next === null) return null;
    const written = await board.write(key, next as Json, entry.revision);
    if (written !== null) return written as BoardEntry<T>;
    // The newer value is on its way to the live copy.
    if (board.get(key)?.revision === entry.revision) await board.changed({ within: 200 });
  }
  throw new FleetError('board_unavailable', `${board.name} has refused ${rounds} writes of ${key} in a row.`);
}

/** Far more than honest boards need: somebody else wins each time. */
const rounds = 50;
