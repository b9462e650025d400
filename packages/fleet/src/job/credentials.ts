import type { Auth } from '@call-attribution/core';

/** Finds the credentials of an account by the reference in the job. Throws `credential_missing` when they are not there. */
export type CredentialSource = (reference: string, account: string) => Promise<Auth>;
