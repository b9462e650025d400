import { randomUUID } from 'node:crypto';
import type { ConsumerInfo, JsMsg } from '@nats-io/jetstream';
import type { NatsBucket } from './nats-bucket.ts';
import type { NatsModules } from './nats-connection.ts';

/** What a watch reports. */
export interface NatsWatcher {
  /** An entry: first the last one of each key, then every change. */
  onMessage(message: JsMsg, isChange: boolean): void;
  /** All keys have been reported. */
  onReady(): void;
  /** The time on the server, just now. */
  onTime(at: number): void;
}

const heartbeatMs = 3_000;
const nanosPerMs = 1_000_000;
const placements = 12;

/**
 * Reports all keys of a bucket and then each change, until something goes wrong or the signal: a gap, or a missing sign of life.
 * What comes after that is reported by the next watch, which begins with all keys.
 */
export async function watchBucket(
  { transport }: NatsModules,
  bucket: NatsBucket,
  watcher: NatsWatcher,
  signal: AbortSignal,
): Promise<void> {
  const inbox = transport.createInbox();
  const made = await consumerAtLeader(bucket, inbox);
  watcher.onTime(Date.parse(made.created));
  const consumer = await bucket.client.consumers.getBoundPushConsumer({
    deliver_subject: inbox,
    idle_heartbeat: heartbeatMs * nanosPerMs,
  });
  let delivered = 0;
  let isReady = false;
  const ready = (): void => {
    isReady = true;
    watcher.onReady();
  };
  if (made.num_pending === 0) ready();
  const messages = await consumer.consume({
    callback: (message) => {
      const { deliverySequence, pending } = message.info;
      if (deliverySequence !== delivered + 1) return end();
      delivered = deliverySequence;
      watcher.onMessage(message, isReady);
      // Not only by the count of what is pending: when entries were overwritten before they were sent, it never becomes 0.
      if (!isReady && (pending === 0 || message.seq >= bucket.last)) ready();
    },
  });
  const end = (): void => messages.stop();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  // Ends with the messages.
  for await (const notice of messages.status()) {
    if (notice.type === 'flow_control') continue;
    if (notice.type !== 'heartbeat' || notice.lastConsumerSequence !== delivered) end();
    // The server has nothing more to send.
    else if (!isReady) ready();
  }
  signal.removeEventListener('abort', end);
  bucket.manager.consumers.delete(bucket.stream, made.name).catch(() => undefined);
}

/**
 * A consumer on the server that leads the bucket. Copies on other servers lag, and after a change of leader those of
 * nats-server 2.9 may number entries differently for good.
 */
async function consumerAtLeader(
  { manager, stream, prefix, leader }: NatsBucket,
  inbox: string,
): Promise<ConsumerInfo> {
  for (let tries = 1; ; tries += 1) {
    // Made by hand and not with kv.watch(): that one hears of a lost server only after a minute, and goes on at a sequence that
    // a bucket that was created again has not reached.
    const made = await manager.consumers.add(stream, {
      name: `fleet-${randomUUID()}`,
      deliver_subject: inbox,
      filter_subject: `${prefix}>`,
      deliver_policy: 'last_per_subject',
      ack_policy: 'none',
      replay_policy: 'instant',
      max_deliver: 1,
      flow_control: true,
      idle_heartbeat: heartbeatMs * nanosPerMs,
      inactive_threshold: 15_000 * nanosPerMs,
      num_replicas: 1,
      mem_storage: true,
    });
    // The server places it on any of those with a copy.
    if (leader === undefined || made.cluster?.leader === leader || tries === placements) return made;
    await manager.consumers.delete(stream, made.name);
  }
}
