import type { FieldSpec } from '@call-attribution/core';
import { isRevealed, maskingOf, type Reveal } from '../privacy/masking.ts';
import { ToolError } from '../text/failures.ts';
import { findField } from './select.ts';

/** Refuses to order by a masked field: the order of the masks would say which numbers and names are near each other. */
export function checkOrder(
  order: string | undefined,
  { fields, reveal }: { readonly fields: readonly FieldSpec[]; readonly reveal: ReadonlySet<Reveal> },
): void {
  for (const part of order?.split(',') ?? []) {
    const spec = findField(fields, part.trim().replace(/^-|\s+(?:asc|desc)$/gi, ''));
    if (spec?.personal && !isRevealed(reveal, maskingOf(spec).revealedBy))
      throw new ToolError({ code: 'masked_order', field: spec.name });
  }
}
