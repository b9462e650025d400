import * as z from 'zod';
import {
  accessFields,
  accessOf,
  refusing,
  type Surroundings,
  text,
} from '../http/access-schema.ts';
import type { Viewer } from '../http/public-types.ts';

// What a list of viewers may hold. zod is loaded with this, so only `readViewers` imports it.

/** A list of viewers. */
export function viewersSchema(surroundings: Surroundings) {
  const viewer = z
    .strictObject({
      ...accessFields,
      accounts: z.array(text).min(1, 'must name at least one account, or be left out for all'),
      personal: z.boolean('must be true or false'),
    })
    .partial()
    .transform((read, context): Viewer => {
      const refuse = refusing(context);
      const access = accessOf(read, surroundings, refuse);
      if (access === null) {
        if (read.user === undefined) refuse('user', 'is missing');
        return z.NEVER;
      }

      return { access, accounts: read.accounts ?? null, personal: read.personal ?? true };
    });
  return z.array(viewer, 'must be a list of viewers');
}
