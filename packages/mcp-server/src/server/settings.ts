import { createHmac } from 'node:crypto';
import { type Clock, fields } from '@call-attribution/core';
import { naiveAt } from '@call-attribution/core/time';
import { machineZone } from '@call-attribution/questions';
import { showRecord } from '../fields/view.ts';
import type { Reveal } from '../privacy/masking.ts';
import { ApiSource } from '../source/api-source.ts';
import type { CallSource } from '../source/source.ts';
import { UnfinishedQuestions } from '../source/unfinished.ts';
import type { ToolSettings } from '../tools/call.ts';
import type { Lane } from './lane.ts';
import type { SummarySettings } from './options.ts';

/** What tools share, whichever accounts they are about. */
export interface CommonSettings {
  readonly reveal: ReadonlySet<Reveal>;
  readonly limits: SummarySettings;
  readonly clock: Pick<Clock, 'now'>;
  readonly budget: number;
  readonly exportFolder: string | null;
  readonly hasMirror: boolean;
  /** Cursors hold on every process of a server that has the same key. */
  readonly key: string | Uint8Array;
}

/** Makes what tools use for some accounts of `all`. */
export function createSettings(
  common: CommonSettings,
  all: readonly Lane[],
): (lanes: readonly Lane[]) => ToolSettings {
  const { reveal, limits, clock, budget, exportFolder, hasMirror, key } = common;
  const cursorKey = createHmac('sha256', key).update('cursors').digest();
  const owner = JSON.stringify([all.map((lane) => [lane.name, lane.version]), [...reveal].sort()]);
  const unfinished = new UnfinishedQuestions(cursorKey, owner);
  return (lanes) => {
    const [{ version, client, timeZone, mask }] = lanes as readonly [Lane, ...Lane[]];
    const api = new ApiSource(lanes, { limits, clock });
    return {
      version,
      client,
      accounts: lanes,
      api,
      source: hasMirror ? () => copyOf(lanes, api) : async () => api,
      hasMirror,
      cursorKey,
      unfinished,
      fields,
      reveal,
      view: (call, specs, limit) =>
        showRecord(mask.view(call as unknown as Parameters<typeof mask.view>[0]), specs, limit),
      budget,
      exportFolder,
      clock,
      now: (zone = timeZone ?? machineZone()) => naiveAt(clock.now(), zone),
      ...(timeZone === undefined ? {} : { timeZone }),
    };
  };
}

/** The local copy of some accounts. Its code is loaded only now. */
async function copyOf(lanes: readonly Lane[], api: CallSource): Promise<CallSource> {
  const { CopySource } = await import('../mirror/index.ts');
  const mirrors = await Promise.all(lanes.map(({ mirror }) => mirror));
  return new CopySource(
    mirrors.flatMap((mirror, i) => (mirror === null ? [] : [{ name: lanes[i]?.name ?? '', mirror }])),
    api,
  );
}
