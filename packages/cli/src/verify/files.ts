import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { receiptEnding } from '@call-attribution/node-stream/receipts';
import { UsageError } from '../errors.ts';
import { formatOfName } from '../output/target.ts';

/** Something to verify: a file of records, or a database. */
export interface Target {
  readonly kind: 'file' | 'sqlite' | 'receipt only';
  /** Path from the folder of the command. */
  readonly path: string;
}

/** What kind of thing a name says; null for a name that says nothing. */
function kindOf(name: string): Target['kind'] | null {
  if (/\.(?:db|sqlite3?)$/i.test(name)) return 'sqlite';
  return formatOfName(name).format === null ? null : 'file';
}

/** The file, or everything in the folder that holds records or has a receipt. */
export async function targetsAt(path: string, cwd: string): Promise<Target[]> {
  const found = await stat(resolve(cwd, path)).catch(() => null);
  if (found?.isDirectory()) return targetsIn(path, cwd);
  if (found !== null) {
    if (path.endsWith(receiptEnding))
      throw new UsageError(`${path} is a receipt`, {
        hints: [`calls verify ${path.slice(0, -receiptEnding.length)}`],
      });
    return [{ kind: kindOf(path) ?? 'file', path }];
  }
  if ((await stat(resolve(cwd, `${path}${receiptEnding}`)).catch(() => null)) !== null)
    return [{ kind: 'receipt only', path }];
  throw new UsageError(`there is no file or folder ${path}`, {
    hints: ['a store is written sqlite:calls.db or postgres://user@host/name'],
  });
}

async function targetsIn(folder: string, cwd: string): Promise<Target[]> {
  const targets: Target[] = [];
  const walk = async (at: string): Promise<void> => {
    const entries = await readdir(resolve(cwd, at), { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    for (const { name, ...entry } of entries.map((each) => ({
      name: each.name,
      isFolder: each.isDirectory(),
    }))) {
      const path = join(at, name);
      if (entry.isFolder) {
        if (!name.startsWith('.')) await walk(path);
      } else if (name.endsWith(receiptEnding)) {
        const file = name.slice(0, -receiptEnding.length);
        if (!names.has(file)) targets.push({ kind: 'receipt only', path: join(at, file) });
      } else if (names.has(`${name}${receiptEnding}`)) targets.push({ kind: kindOf(name) ?? 'file', path });
      else if (!isBesides(name)) {
        const kind = kindOf(name);
        if (kind !== null) targets.push({ kind, path });
      }
    }
  };
  await walk(folder);
  return targets.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Is it a file that commands write besides the records: such as settings? */
const isBesides = (name: string): boolean =>
  /^[._]|^calls\.config\.json$|^package(?:-lock)?\.json$/.test(name);
