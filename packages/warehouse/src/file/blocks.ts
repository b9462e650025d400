import { statSync } from 'node:fs';
import { WarehouseError } from '../errors.ts';
import type { Session } from './session.ts';

/** Three headers are before the blocks of a file. */
const headers = 3 * 4096;

/**
 * Throws when blocks are missing at the end of the file that calls are in. DuckDB finds that out only once it reads one of them, and
 * a sync that has little to store would not.
 */
export async function checkBlocks(session: Session, path: string): Promise<void> {
  const { last } = await session.one(
    `SELECT max(greatest(block_id, coalesce(list_max(additional_block_ids), -1)))::DOUBLE AS last
       FROM pragma_storage_info('records')`,
  );
  const { size } = await session.one(
    'SELECT block_size::DOUBLE AS size FROM pragma_database_size() WHERE database_name = current_database()',
  );
  // Without opening the file: closing it again would end DuckDB's lock.
  if (last === null || statSync(path).size >= headers + (Number(last) + 1) * Number(size)) return;
  throw new WarehouseError(
    'damaged',
    `${path} was cut: a part of its calls is missing. Restore a copy, or name a new file and sync again; keep this one until then.`,
  );
}
