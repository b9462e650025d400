import type { Call, CallV2, CallV3 } from '@call-attribution/core';
import type { callSchema, callV2Schema, callV3Schema } from '@call-attribution/core/schemas';
import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';

/** The named fields of a loose schema's output, without its index signature. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };
type Same<A, B> = [A, keyof A] extends [B, keyof B]
  ? [B, keyof B] extends [A, keyof A]
    ? true
    : false
  : false;

test('the schemas describe exactly the generated types', () => {
  expectTypeOf<Same<Named<z.output<typeof callV2Schema>>, CallV2>>().toEqualTypeOf<true>();
  expectTypeOf<Same<Named<z.output<typeof callV3Schema>>, CallV3>>().toEqualTypeOf<true>();
  expectTypeOf<Same<Named<z.output<typeof callSchema>>, Call>>().toEqualTypeOf<true>();
  expectTypeOf<Same<Named<z.output<typeof callV2Schema>>, CallV3>>().toEqualTypeOf<false>();
});

test('a call can be passed where any record is accepted', () => {
  expectTypeOf<Call>().toExtend<Readonly<Record<string, unknown>>>();
});
