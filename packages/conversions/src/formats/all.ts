import { googleAdsCalls, googleAdsClicks } from './google-ads.ts';
import { marin } from './marin.ts';
import { microsoftAds, microsoftBulk } from './microsoft.ts';
import { sa360 } from './sa360.ts';
import { skai } from './skai.ts';

/**
 * Every upload format by its name: whoever adds one adds a line.
 *
 * @example
 * sheetFormats['google-ads-clicks'].title; // 'Google Ads, conversions from clicks'
 */
export const sheetFormats = {
  'google-ads-calls': googleAdsCalls,
  'google-ads-clicks': googleAdsClicks,
  'microsoft-ads': microsoftAds,
  'microsoft-bulk': microsoftBulk,
  sa360,
  skai,
  marin,
} as const;

/** Names of the upload formats, as `calls sheet` takes them. */
export type SheetFormatName = keyof typeof sheetFormats;
