import { dirname } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { readViewers, type Viewer } from '@call-attribution/service';
import type { Settings } from '@call-attribution/settings';
import { UsageError } from '../errors.ts';

/** Reads the section "page" of the configuration file: who may see the page, and how much of it. */
export async function readPageSection(
  { file }: Settings,
  env: Environment,
): Promise<readonly Viewer[]> {
  const section = file?.page;
  if (file === null || section === undefined) return [];
  const isObject = typeof section === 'object' && section !== null && !Array.isArray(section);
  const stray = isObject ? Object.keys(section).find((name) => name !== 'viewers') : undefined;
  if (!isObject || stray !== undefined)
    throw new UsageError(
      `${file.path}: page must be an object with "viewers"${stray === undefined ? '' : `, and has ${JSON.stringify(stray)}`}`,
    );

  const viewers = 'viewers' in section ? section.viewers : [];
  const source = `${file.path}: page.viewers`;
  return readViewers(JSON.stringify(viewers), { source, folder: dirname(file.path), env });
}
