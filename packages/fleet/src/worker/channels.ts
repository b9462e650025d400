import { channel } from 'node:diagnostics_channel';
import type { WorkerEvent } from './events.ts';

const channels = {
  parcel: channel('call-attribution:fleet:parcel'),
  account: channel('call-attribution:fleet:account'),
  worker: channel('call-attribution:fleet:worker'),
  board: channel('call-attribution:fleet:board'),
  wait: channel('call-attribution:fleet:wait'),
} as const satisfies Record<WorkerEvent['kind'], unknown>;

/** Publishes what a worker does on `call-attribution:fleet:<kind>`. Costs next to nothing while nobody listens. */
export function publishEvent(event: WorkerEvent): void {
  const own = channels[event.kind];
  if (own.hasSubscribers) own.publish(event);
}
