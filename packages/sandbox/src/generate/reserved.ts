// Names and numbers that do not belong to anyone, so that generated data can never point at a real
// person or machine: 555-0100 to 555-0199 of each North American area code, Ofcom's numbers for
// drama, the documentation networks of RFC 5737 and RFC 3849, and the domains of RFC 2606.
import { itemAt } from '@call-attribution/core/errors';
import { pad, type Random } from './random.ts';

/** A town in which generated callers live. */
interface Place {
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

// Towns by country: name, state, zip code, and the area codes or prefixes whose reserved numbers
// are used.
const towns = {
  us: [
    'Denver|CO|80202|303 720 983',
    'New York|NY|10001|212 646 332 917',
    'Los Angeles|CA|90012|213 310 323 424',
    'Chicago|IL|60601|312 773 872',
    'Houston|TX|77002|713 281 832',
    'San José|CA|95112|408 669',
    'Austin|TX|78701|512 737',
    'Boston|MA|02108|617 857',
    "Coeur d'Alene|ID|83814|208 986",
    'Miami|FL|33101|305 786',
    'Atlanta|GA|30303|404 470 678 770',
    'Philadelphia|PA|19107|215 267 445',
    'Phoenix|AZ|85004|602 480 623',
    'San Diego|CA|92101|619 858',
    'Dallas|TX|75201|214 469 972',
    'San Antonio|TX|78205|210 726',
    'Columbus|OH|43215|614 380',
    'Charlotte|NC|28202|704 980',
    'Indianapolis|IN|46204|317 463',
    'Nashville|TN|37201|615 629',
    'Portland|OR|97204|503 971',
    'Las Vegas|NV|89101|702 725',
    'Seattle|WA|98101|206',
    'Minneapolis|MN|55401|612',
    'Kansas City|MO|64106|816',
    'Albuquerque|NM|87102|505',
    'Honolulu|HI|96813|808',
    'Anchorage|AK|99501|907',
  ],
  ca: [
    'Montréal|QC|H2X 1Y4|514 438',
    'Québec|QC|G1R 4S9|418 581',
    'Trois-Rivières|QC|G9A 5H9|819 873',
    'Ottawa|ON|K1P 5M7|613 343',
    'Toronto|ON|M5H 2N2|416 647 437',
    'Vancouver|BC|V6B 1A1|604 778 236',
    'Calgary|AB|T2P 1J9|403 587',
    'Winnipeg|MB|R3C 1A5|204 431',
    'Halifax|NS|B3H 4R2|902',
  ],
  gb: [
    'London|England|EC1A 1BB|2079460',
    'Manchester|England|M1 1AE|1614960',
    'Leeds|England|LS1 4DY|1134960',
    'Sheffield|England|S1 2HE|1144960',
    'Nottingham|England|NG1 5DT|1154960',
    'Leicester|England|LE1 5YA|1164960',
    'Bristol|England|BS1 4ST|1174960',
    'Reading|England|RG1 2AG|1184960',
    'Birmingham|England|B1 1BB|1214960',
    'Newcastle upon Tyne|England|NE1 7RU|1914980',
    'Liverpool|England|L1 8JQ|1514960',
    'Edinburgh|Scotland|EH1 1YZ|1314960',
    'Glasgow|Scotland|G1 1XQ|1414960',
    'Belfast|Northern Ireland|BT1 5GS|2896496',
    'Caerdydd / Cardiff|Cymru|CF10 3AT|2920180',
  ],
} as const;

/** A country whose reserved numbers are used. */
export type Country = keyof typeof towns;

/** A caller's line: the number, and the town it belongs to. */
export interface Line {
  readonly number: string;
  readonly place: Place;
}

interface Block {
  readonly prefix: string;
  readonly place: Place;
}

const blocks = {
  us: towns.us.flatMap((town) => blocksOf(town, (area) => `1${area}55501`)),
  ca: towns.ca.flatMap((town) => blocksOf(town, (area) => `1${area}55501`)),
  gb: towns.gb.flatMap((town) => blocksOf(town, (prefix) => `44${prefix}`)),
};

function blocksOf(town: string, prefixOf: (code: string) => string): Block[] {
  const [city = '', state = '', zip = '', codes = ''] = town.split('|');
  return codes.split(' ').map((code) => ({ prefix: prefixOf(code), place: { city, state, zip } }));
}

// In a North American block of 100 lines the first 20 belong to businesses, so that no business
// calls itself.
const businessLines = 20;
const free = (prefix: string) => (prefix.startsWith('44') ? 1000 : 100 - businessLines);

/** How many different callers the reserved numbers of a country allow. */
export function callerCount(country: Country): number {
  return blocks[country].length * free(blocks[country][0]?.prefix ?? '');
}

/** The line of a caller. Callers beyond `callerCount` share the lines of the first ones. */
export function callerLine(country: Country, caller: number): Line {
  const { block, turn } = placeOf(country, caller);
  const size = free(block.prefix);
  const line = (turn * 29) % size;
  const digits = block.prefix.startsWith('44') ? pad(line, 3) : pad(line + businessLines, 2);
  return { number: block.prefix + digits, place: block.place };
}

/** A tracking number of a business, from a range that callers do not use. */
export function businessNumber(country: Country, index: number): string {
  if (country === 'gb') return `443069990${pad((index * 29) % 1000, 3)}`;
  const { block, turn } = placeOf(country, index);
  return block.prefix + pad((turn * 7) % businessLines, 2);
}

// Callers are spread over the blocks in turn, and each block starts at another line, so that
// neighbours look different. The step through a block and the size of the block have no common
// factor: every line is used once.
function placeOf(country: Country, index: number): { block: Block; turn: number } {
  const list = blocks[country];
  const at = index % list.length;
  return { block: itemAt(list, at), turn: Math.floor(index / list.length) + at };
}

/** An address from the networks set aside for documentation; one in eight is of version 6. */
export function documentationAddress(random: Random): string {
  const bits = random.bits();
  if ((bits & 7) === 0) {
    return `2001:db8:${((bits >>> 3) & 0xffff).toString(16)}::${(1 + ((bits >>> 19) & 0xfff)).toString(16)}`;
  }
  const network = ['192.0.2', '198.51.100', '203.0.113'][(bits >>> 8) % 3];
  return `${network}.${1 + ((bits >>> 16) % 254)}`;
}
