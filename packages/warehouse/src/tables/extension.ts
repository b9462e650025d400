import type { Call } from '@call-attribution/core';

export const isExtension = (call: Call): boolean => /^call extensions?$/i.test(String(call.channel));
