import type { SheetFormat } from './format.ts';
import { googleAdsCalls } from './google-ads-calls.ts';
import { googleAdsClicks } from './google-ads-clicks.ts';
import { marin } from './marin.ts';
import { microsoftAds, microsoftBulk } from './microsoft.ts';
import { sa360 } from './sa360.ts';
import { skai } from './skai.ts';

/** Every upload format, by the name `--for` takes. */
export const sheetFormats: readonly SheetFormat[] = [
  googleAdsCalls,
  googleAdsClicks,
  microsoftAds,
  microsoftBulk,
  sa360,
  skai,
  marin,
];
