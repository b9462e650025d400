import { setTimeout } from 'node:timers/promises';
import type { JetStreamClient, JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { FleetError } from '../errors.ts';
import type { NatsModules, NatsServers } from './nats-connection.ts';

/** The bucket of a job. */
export const bucketOf = (job: string): string => `FLEET_${job}`;

const maxBytes = 256 * 1024 * 1024;
const nanosPerSecond = 1_000_000_000;
/** How long the server remembers the ids of writes, by which it decides races. */
const windowSeconds = 120;

/** Access to the bucket of a job. */
export interface NatsBucket {
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly stream: string;
  /** In a cluster the server that decides about writes. */
  readonly leader: string | undefined;
  /** When it was created. */
  readonly created: string;
  /** The number of its last write, when it was opened. */
  readonly last: number;
  /** What the keys of the bucket have in front. */
  readonly prefix: string;
}

/** The bucket of a job as it is on the server, created when there is none. One that was made otherwise is `board_unfit`. */
export async function openBucket(
  modules: NatsModules,
  connection: NatsConnection,
  place: NatsServers,
  job: string,
  replicas: number | undefined,
): Promise<NatsBucket> {
  const bucket = bucketOf(job);
  const stream = `KV_${bucket}`;
  const manager = await modules.jetstream.jetstreamManager(connection, { timeout: 2_000 });
  const config = settings(stream, bucket, replicas ?? copies(connection, place));
  const info = await foundOrMade(modules, manager, config);
  checkSettings(info.config, config, place.name, bucket);
  return {
    manager,
    client: manager.jetstream(),
    stream,
    leader: info.cluster?.leader,
    created: info.created,
    last: info.state.last_seq,
    prefix: `$KV.${bucket}.`,
  };
}

/** What the server says when another client makes the same stream at that moment. */
const madeByOther: ReadonlySet<number> = new Set([10058, 10065]);
const tries = 10;

async function foundOrMade(
  { jetstream }: NatsModules,
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo> {
  const { JetStreamApiError, JetStreamApiCodes } = jetstream;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await manager.streams.info(config.name);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound)
        throw error;
    }
    try {
      return await manager.streams.add(config);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || !madeByOther.has(error.code) || attempt === tries)
        throw error;
    }
    await setTimeout(100);
  }
}

function settings(
  stream: string,
  bucket: string,
  replicas: number,
): Partial<StreamConfig> & { name: string } {
  return {
    name: stream,
    subjects: [`$KV.${bucket}.>`],
    description: 'Board of a fleet: who does what',
    retention: 'limits',
    storage: 'file',
    discard: 'new',
    max_msgs_per_subject: 1,
    max_bytes: maxBytes,
    max_age: 0,
    num_replicas: replicas,
    duplicate_window: windowSeconds * nanosPerSecond,
    // A direct read may be answered by a server that lags.
    allow_direct: false,
    allow_rollup_hdrs: true,
  };
}

/** Copies of a new bucket: three where the cluster has three servers. */
function copies({ info }: NatsConnection, { hosts }: NatsServers): number {
  const servers = Math.max(hosts.length, info?.connect_urls?.length ?? 0);
  return info?.cluster !== undefined && servers >= 3 ? 3 : 1;
}

/** What the board relies on. */
const relied = ['subjects', 'retention', 'storage', 'max_msgs_per_subject', 'max_age'] as const;

function checkSettings(
  found: StreamConfig,
  wanted: Partial<StreamConfig>,
  name: string,
  bucket: string,
): void {
  const others = relied.filter((key) => JSON.stringify(found[key]) !== JSON.stringify(wanted[key]));
  const more = [
    ...(found.duplicate_window < 10 * nanosPerSecond ? ['duplicate_window'] : []),
    ...(found.mirror !== undefined ? ['mirror'] : []),
    ...(found.sources?.length ? ['sources'] : []),
    ...(found.sealed ? ['sealed'] : []),
    ...(found.no_ack ? ['no_ack'] : []),
  ];
  const wrong = [...others, ...more];
  if (wrong.length > 0)
    throw new FleetError(
      'board_unfit',
      `The bucket ${bucket} on ${name} was made with other settings (${wrong.join(', ')}).`,
      {
        hint: `Give the job another name, or remove the bucket if nothing needs it: nats kv del ${bucket}`,
      },
    );
}
