import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { datasetFailure } from '../file/failure.ts';

/** All Parquet files of a folder, or the file itself, with the account that their paths name. */
export async function datasetFiles(path: string): Promise<{ file: string; account: string | null }[]> {
  const found: { file: string; account: string | null }[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      // Names that begin so are not data, by a convention that all engines follow.
      if (entry.name.startsWith('.') || entry.name.startsWith('_')) continue;
      const file = join(folder, entry.name);
      if (entry.isDirectory()) await walk(file);
      else if (entry.name.endsWith('.parquet'))
        found.push({ file, account: accountIn(relative(path, file)) });
    }
  };
  try {
    if ((await stat(path)).isDirectory()) await walk(path);
    else found.push({ file: path, account: null });
  } catch (error) {
    throw datasetFailure(error, path);
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

const accountIn = (path: string): string | null => {
  const name = /(?:^|[/\\])account=([^/\\]+)/.exec(path)?.[1];
  return name === undefined ? null : decodeURIComponent(name);
};
