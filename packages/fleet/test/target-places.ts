import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { openStore } from '@call-attribution/store';
import { expect } from 'vitest';
import type { PinnedJob, Target } from '../src/index.ts';
import { openTarget } from '../src/index.ts';
import { all } from './real-pages.ts';

/** A place that targets can be opened on, and a look at what lies there without them. */
export interface TargetPlace {
  /** The URL of the target. */
  readonly into: string;
  /** Opens it, as each worker does. */
  open(job: PinnedJob | null): Promise<Target>;
  /** Every record that a reader of an account finds: one that lies in two places comes twice. */
  records(account: string): Promise<Pick<Call, 'sid' | 'city'>[]>;
}

/** A folder whose files have JSON lines. */
export function folderPlace(folder: string): TargetPlace {
  const into = `folder:${folder}`;
  return {
    into,
    open: (job) => openTarget(into, job),
    async records(account) {
      const own = join(folder, `account=${account}`);
      const names = existsSync(own) ? await readdir(own, { recursive: true }) : [];
      return names
        .filter((name) => name.endsWith('.ndjson'))
        .flatMap((name) => readFileSync(join(own, name), 'utf8').split('\n'))
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
  };
}

/** A store. Its counts must be right whenever its records are looked at. */
export function storePlace(into: string): TargetPlace {
  return {
    into,
    open: (job) => openTarget(into, job),
    async records(account) {
      await using store = await openStore(into);
      expect(await store.check()).toEqual([]);
      return all(store.calls(account));
    },
  };
}
