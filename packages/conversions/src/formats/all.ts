import type { SheetFormat } from '../sheet-format.ts';
import { googleAdsCalls, googleAdsClicks } from './google-ads.ts';
import { marin } from './marin.ts';
import { microsoftAds, microsoftBulk } from './microsoft.ts';
import { sa360 } from './sa360.ts';
import { skai } from './skai.ts';

/** The list of formats: whoever adds one adds a line. */
const all = {
  'google-ads-calls': googleAdsCalls,
  'google-ads-clicks': googleAdsClicks,
  'microsoft-ads': microsoftAds,
  'microsoft-bulk': microsoftBulk,
  sa360,
  skai,
  marin,
};

/** Names of the upload formats, as `calls sheet` takes them. */
export type SheetFormatName = keyof typeof all;

/**
 * Every upload format by its name.
 *
 * @example
 * sheetFormats['google-ads-clicks'].title; // 'Google Ads, conversions from clicks'
 */
export const sheetFormats: Readonly<Record<SheetFormatName, SheetFormat>> = all;
