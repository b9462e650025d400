import { builtFile } from '@call-attribution/test-tools/bundle';
import { vi } from 'vitest';
import { plant } from './mistakes.ts';
import type { Plant } from './wrong-functions.ts';

/** Imports a file of the package with wrong functions in it. */
export async function withWrongFunctions<T>(
  file: string,
  mistake: (plant: Plant) => void,
): Promise<T> {
  const files: string[] = [];
  vi.resetModules();
  mistake((of, wrong) => {
    files.push(`../../src/${of}`);
    vi.doMock(`../../src/${of}`, async (original) => {
      const right = (await original()) as never;
      return { ...(right as object), ...wrong(right) };
    });
  });
  const found: T = await import(file);
  for (const each of files) vi.doUnmock(each);

  // Test files share their modules: those that come after this one get the right functions.
  vi.resetModules();
  return found;
}

/** Imports a file of the package with a mistake in its text. */
export async function withWrongText<T>(file: string, mistake: string): Promise<T> {
  const source = new URL(file, import.meta.url).href;
  return await import(await builtFile(source, [plant(mistake) as never]));
}
