import { createHash, randomUUID } from 'node:crypto';
import { FleetError } from '../errors.ts';
import type { ParcelVerdict } from '../parcels/parcel.ts';
import type { BucketClient } from './bucket-client.ts';
import type { BucketBody } from './bucket-http.ts';
import { putWhen } from './bucket-put.ts';

/**
 * What lies under `_verdicts/` for a parcel: who has claimed it, or what was committed. Each write of it is conditional on the one
 * before and has a name of its own, so that no two are alike: whoever claims a parcel makes it impossible for all who claimed it
 * earlier to write here.
 */
export type ClaimRecord =
  | { readonly state: 'claimed'; readonly claim: string; readonly by: string }
  | { readonly state: 'reopened'; readonly claim: string }
  | {
      readonly state: 'committed';
      readonly claim: string;
      /** Etag of the object with the records: only this one was committed. */
      readonly etag: string;
      readonly verdict: ParcelVerdict;
    };

/** A slot that lies there, and its own etag. */
export interface HeldClaimRecord {
  readonly slot: ClaimRecord;
  readonly etag: string;
}

/** A name that nobody else has. */
export const newClaim = (): string => randomUUID();

/** Null when the parcel was never claimed. */
export async function readClaimRecord(client: BucketClient, path: string): Promise<HeldClaimRecord | null> {
  const found = await client.get(path);
  if (found === null) return null;
  const slot = slotIn(found.body.toString('utf8'));
  if (slot === null)
    throw new FleetError('target_unfit', `${path} in ${client.name} was not written by a fleet.`, {
      hint: 'Remove it: its parcel is then read again.',
    });
  return { slot, etag: found.etag };
}

/** Writes a slot over the one that was read. Null when somebody else has written it since. */
export async function writeClaimRecord(
  client: BucketClient,
  path: string,
  slot: ClaimRecord,
  before: string | null,
): Promise<HeldClaimRecord | null> {
  const etag = await putWhen(client, {
    key: path,
    body: jsonBody({ format: 1, ...slot }),
    replaces: before,
    // A claim and its commit are two writes.
    mark: newClaim(),
    type: 'application/json',
  });
  return etag === null ? null : { slot, etag };
}

/** JSON as the body of a request. */
export function jsonBody(value: unknown): BucketBody {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  return {
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    open: () => bytes,
  };
}

function slotIn(text: string): ClaimRecord | null {
  try {
    const slot = JSON.parse(text) as Partial<ClaimRecord> | null;
    if (slot === null || typeof slot.claim !== 'string') return null;
    if (slot.state === 'claimed' || slot.state === 'reopened') return slot as ClaimRecord;
    return slot.state === 'committed' && typeof slot.etag === 'string' && slot.verdict
      ? (slot as ClaimRecord)
      : null;
  } catch {
    return null;
  }
}
