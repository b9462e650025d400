import { type Call, type Clock, fields } from '@call-attribution/core';
import { naiveAt } from '@call-attribution/core/time';
import { machineZone } from '@call-attribution/questions';
import { Source } from '../copy/source.ts';
import { showRecord } from '../fields/view.ts';
import type { Reveal } from '../privacy/mask.ts';
import type { ToolSettings } from '../tools/call.ts';
import type { Lane } from './lane.ts';

/** What tools share, whichever accounts they are about. */
export interface CommonSettings {
  readonly reveal: ReadonlySet<Reveal>;
  readonly clock: Pick<Clock, 'now'>;
  readonly budget: number;
  readonly exportFolder: string | null;
}

/** Makes what tools use for some accounts. */
export function settingsOf(common: CommonSettings, lanes: readonly Lane[]): ToolSettings {
  const { clock } = common;
  const [{ version, client, timeZone, mask }] = lanes as readonly [Lane, ...Lane[]];
  return {
    ...common,
    version,
    client,
    source: new Source(lanes, clock.now),
    fields,
    view: (call, specs, limit) => showRecord(mask(call as unknown as Call), specs, limit),
    now: (zone = timeZone ?? machineZone()) => naiveAt(clock.now(), zone),
    ...(timeZone === undefined ? {} : { timeZone }),
  };
}
