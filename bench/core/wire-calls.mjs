// Fixture calls as a server of a version sends them.
import { fromCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';

export const wireCalls = (n, version, seed = 1) =>
  fixtureCalls(n, seed).map((call) => fromCall(call, version));
