import { type Random, token } from './random.ts';
import { type Country, callerLine, documentationAddress, type Line } from './reserved.ts';

// biome-ignore format: a list of names reads better in lines
const firstNames = [
  'James', 'María', 'Zoë', 'Łukasz', 'Thị Hương', 'Siobhán', 'Björn', 'Ana', 'Robert', 'Linda', 'Aisha', 'Chloé',
  'Wei', 'Jürgen', 'Олена', 'Patricia', 'Michael', '美咲', 'Noor', 'יעל', 'فاطمة', 'Grace', 'Tomás', 'Nia',
] as const;
// biome-ignore format: a list of names reads better in lines
const lastNames = [
  'Smith', 'García', "O'Brien", 'Müller', 'Łuczak', 'Nguyễn', 'Johnson', 'Björklund', 'da Silva', 'Kowalski',
  'Іваненко', 'Brown', '田中', 'Miller', 'Lee', 'St. John', 'Smith, Jr.', 'Okafor', 'Haddad', 'Tremblay',
] as const;
/** Names that are also words of campaigns, keywords and towns: some callers have one of them. */
const commonWords = ['Price', 'Brand', 'Houston'] as const;
const streets = [
  'Main St',
  'Oak Ave #4B',
  'Rue Saint-Denis, app. 3',
  'Calle Ocho',
  'Church Lane',
  'Elm Court "The Mews"',
];
const phones = [
  ['iOS', ['17.6', '18.1', '18.5'], ['Safari', 'Chrome'], 'apple%20iphone'],
  ['Android', ['13', '14', '15'], ['Chrome', 'Samsung Internet', 'Firefox'], 'samsung%20sm-s911b'],
] as const;
const desktops = [
  ['Windows', ['10', '11'], ['Edge', 'Chrome', 'Firefox'], null],
  ['OS X', ['10.15', '14.6'], ['Safari', 'Chrome'], null],
  ['Linux', ['6.8'], ['Firefox'], null],
] as const;
const browserVersions = {
  Chrome: 131,
  Safari: 18,
  Edge: 130,
  Firefox: 132,
  'Samsung Internet': 26,
};

/** A caller: everything that stays the same between their calls. */
export interface Person extends Line {
  readonly firstName: string;
  readonly lastName: string;
  readonly street: string;
  /** Does reverse lookup know this person? */
  readonly isListed: boolean;
  readonly address: string;
  /** Id of the visitor. */
  readonly pid: string;
  readonly superId: string;
  readonly mobile: boolean;
  readonly model: string | null;
  readonly os: string;
  readonly osVersion: string;
  readonly browser: string;
  readonly browserVersion: string;
}

/** Makes a person from a random stream that was seeded for this person. */
export function makePerson(random: Random, country: Country, caller: number): Person {
  const mobile = random.chance(0.64);
  const [os, versions, browsers, model] = random.pick<(typeof phones | typeof desktops)[number]>(
    mobile ? phones : desktops,
  );
  const browser = random.pick(browsers);
  const person = {
    ...callerLine(country, caller),
    firstName: random.pick(firstNames),
    lastName: random.pick(lastNames),
    street: `${1 + random.below(9900)} ${random.pick(streets)}`,
    isListed: random.chance(0.55),
    address: documentationAddress(random),
    pid: token(random, 5),
    superId: random.digits(10),
    mobile,
    model: random.chance(0.4) ? model : null,
    os,
    osVersion: random.pick(versions),
    browser,
    browserVersion: `${browserVersions[browser] - random.below(3)}.0`,
  };

  // One in forty. It is drawn from what was drawn anyway: all else of the call stays as it is.
  const drawn = Number(person.superId.slice(-6));
  const word = drawn % 40 === 0 ? commonWords[Math.floor(drawn / 40) % 3] : undefined;
  return word === undefined ? person : { ...person, lastName: word };
}
