import type { AdGroup, Campaign, Keyword } from './campaigns.ts';
import type { Person } from './people.ts';
import { type Random, token } from './random.ts';

/** What the URL of a visit says about the ad click that it came from. */
export interface ClickTags {
  /** Query parameters, each with its `&`; empty without any. */
  readonly query: string;
  /** The Google click id, which has a field of its own. */
  readonly gclid: string | null;
  /** Whether an ad platform tagged the click. */
  readonly isTagged: boolean;
}

/** A visit that did not come from an ad. */
export const noTags: ClickTags = { query: '', gclid: null, isTagged: false };

/**
 * Draws the ids of an ad click: one of the ad platform, unless tagging was off (`gclid` is null),
 * and one of a bid tool. The first campaign is managed with Skai, the second with Marin, the others
 * without a tool.
 */
export function drawTags(
  random: Random,
  gclid: string | null,
  person: Person,
  { campaign, group, keyword }: { campaign: Campaign; group: AdGroup; keyword: Keyword },
): ClickTags {
  const [name, id] = drawPlatform(random, gclid, person);
  const platform = name === null ? '' : `&${name}=${id}`;
  return {
    query: platform + drawTool(random, campaign, group, keyword),
    gclid: name === 'gclid' ? id : null,
    isTagged: name !== null,
  };
}

// Google sends gbraid and wbraid instead of gclid for some clicks on iOS.
function drawPlatform(
  random: Random,
  gclid: string | null,
  person: Person,
): readonly [name: 'gclid' | 'gbraid' | 'wbraid' | 'msclkid' | null, id: string] {
  const at = random.next();
  const apple = random.next();
  if (gclid === null) return [null, ''];
  if (at < 0.16) return ['msclkid', Array.from({ length: 4 }, () => hex(random)).join('')];
  if (person.os === 'iOS' && apple < 0.2)
    return [apple < 0.12 ? 'gbraid' : 'wbraid', `0AAAAA${token(random, 9)}`];
  return ['gclid', gclid];
}

function drawTool(random: Random, campaign: Campaign, group: AdGroup, keyword: Keyword): string {
  const isTagged = random.chance(0.9);
  if (!isTagged) return '';
  if (campaign.name.endsWith('Generic')) return `&k_clickid=${token(random, 6)}`;
  if (!campaign.name.endsWith('Brand')) return '';
  return `&mkwid=s${keyword.id}_dc&pcrid=${group.adIds[random.below(group.adIds.length)]}`;
}

const hex = (random: Random): string => random.bits().toString(16).padStart(8, '0');
