import { FleetError } from '../errors.ts';
import { bucketOf } from './nats-bucket.ts';
import type { NatsModules } from './nats-connection.ts';

/** Also while servers of a cluster are still starting. */
const noSuitableServers = 10005;
const notForAccount = 10039;
const notInCluster = 10074;

/** Says why a server or bucket cannot be used; null for trouble that may pass, as when a cluster has no leader. */
export function natsRefusal(
  modules: NatsModules,
  name: string,
  job: string,
  error: unknown,
  hasJetStream: boolean,
): FleetError | null {
  if (error instanceof FleetError) return error;
  const denied = natsDenial(modules, name, job, error);
  if (denied !== null) return denied;
  const { JetStreamApiError } = modules.jetstream;
  const refused = [error, (error as Error).cause].find((each) => each instanceof JetStreamApiError);
  if (refused === undefined) {
    // A cluster without a leader does not answer either, but its servers say that they have JetStream.
    if (!isUnheard(error) || hasJetStream) return null;
    return new FleetError('board_unfit', `${name} does not have JetStream enabled.`, {
      hint: 'Start nats-server with -js, or with jetstream in its configuration.',
      cause: error,
    });
  }
  if (refused.status === 503 || refused.code === noSuitableServers) return null;
  if (refused.code === notForAccount)
    return new FleetError(
      'board_unfit',
      `JetStream is not enabled for the account of this user on ${name}.`,
      {
        hint: 'Enable it in the configuration of the server.',
        cause: error,
      },
    );
  return new FleetError(
    'board_unfit',
    `${name} refuses the bucket ${bucketOf(job)}: ${refused.message} (${refused.code}).`,
    {
      hint:
        refused.code === notInCluster
          ? 'Leave out replicas: this server is not part of a cluster.'
          : 'Check the limits of the account: the bucket needs 256 MiB of storage on each server that keeps a copy.',
      cause: error,
    },
  );
}

/** Says which permission of the user is missing; null for another error. */
export function natsDenial(
  { transport }: NatsModules,
  name: string,
  job: string,
  error: unknown,
): FleetError | null {
  const { PermissionViolationError } = transport.errors;
  const denied = [error, (error as Error).cause].find((each) => each instanceof PermissionViolationError);
  if (denied === undefined) return null;
  const deed = denied.operation === 'publish' ? 'publish' : 'subscribe';
  return new FleetError('board_unfit', `${name} does not let this user ${deed} to ${denied.subject}.`, {
    hint: `Give the user the permissions that the README of fleet lists, for the bucket ${bucketOf(job)}.`,
    cause: error,
  });
}

/** Nobody has heard the request: there is no JetStream, or no leader. */
export const isUnheard = (error: unknown): boolean => (error as Error).name === 'JetStreamNotEnabled';
