import { type Call, fields } from '@call-attribution/core';

// Crafted records: invented people, and every way that visitors and forms have of writing their
// data into a record.

/** An invented person: what must not be seen. */
export interface Person {
  readonly first: string;
  readonly last: string;
  readonly phone: string;
  readonly email: string;
  readonly street: string;
  readonly zip: string;
  readonly ip: string;
  readonly card: string;
}

const person = (text: string): Person => {
  const [first, last, phone, email, street, zip, ip, card] = text.split('; ');
  return { first, last, phone, email, street, zip, ip, card } as Person;
};

/** The people: names with accents and marks, numbers of several countries. */
export const people: readonly Person[] = [
  person(
    'Wilhelmina; Quesadilla; 3035550120; w.quesadilla@mail.example.com; 742 Evergreen Terrace; 90210; 203.0.113.77; 4111111111111111',
  ),
  person(
    'Jürgen; O’Brien-Strauß; 4915123456789; juergen+calls@post.example.de; 12 Lindenstraße; 80331; 198.51.100.23; 5500005555555559',
  ),
  person(
    'Łukasz; García-Núñez; 442079460958; lukasz_gn@correo.example.es; 8 Calle Mayor; 28013; 2001:db8:85a3::8a2e:370:7334; 378282246310005',
  ),
  person(
    'Anastasia; Kowalczyk; 6125550147; anastasia@kowalczyk.example; 31 Maple Court; 55401; 192.0.2.146; 6011111111111117',
  ),
  person(
    'Benedict; Featherstone; 7185550163; b.featherstone@firm.example.org; 1500 Ocean Parkway; 11230; 198.51.100.201; 4000056655665556',
  ),
  person(
    'Françoise; Dubois-Lefèvre; 33612345678; f.dubois@courriel.example.fr; 5 Rue des Lilas; 75019; 203.0.113.9; 3530111333300000',
  ),
  person(
    'Theodore; Nakamura; 2065550188; tnakamura99@inbox.example.net; 77 Pine Hollow; 98101; 192.0.2.254; 30569309025904',
  ),
  person(
    'Esperanza; Villanueva; 5125550199; esperanza@villanueva.example; 900 Congress Plaza; 78701; 198.51.100.77; 4242424242424242',
  ),
];

const digitsIn = (zero: number) => (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const entities = (text: string): string =>
  [...text].map((letter) => `&#${letter.codePointAt(0)};`).join('');
const hexEntities = (text: string): string =>
  [...text].map((letter) => `&#x${letter.codePointAt(0)?.toString(16)};`).join('');
const escapes = (text: string): string =>
  [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const grouped =
  (separator: string) =>
  ({ phone }: Person) =>
    [phone.slice(0, -7), phone.slice(-7, -4), phone.slice(-4)].join(separator);
const bare = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[łŁ]/g, 'l');
const german = (text: string): string =>
  bare(text.replace(/ü/g, 'ue').replace(/ö/g, 'oe').replace(/ä/g, 'ae').replace(/ß/g, 'ss'));
const fours = (text: string): string => text.replace(/.{4}(?=.)/g, '$& ');

/** The ways of writing. */
export const spellings: Readonly<Record<string, (who: Person) => string>> = {
  'the number': ({ phone }) => `call ${phone} now`,
  'with dashes': (who) => `call ${grouped('-')(who)} now`,
  'with runs of dashes': (who) => grouped(' ---- ')(who),
  'with dots': grouped('.'),
  'with spaces': grouped('  '),
  'with slashes': (who) => `/${grouped('/')(who)}/`,
  'with bullets': grouped(' • '),
  'with underscores': grouped('_'),
  'with brackets': (who) => `(${grouped(') ')(who)}`,
  'digit by digit': ({ phone }) => [...phone].join(' '),
  'digit by digit with stars': ({ phone }) => [...phone].join('*'),
  'after a plus': ({ phone }) => `tel:+${phone.length === 10 ? `1${phone}` : phone}`,
  'after two zeros': ({ phone }) => `00${phone.length === 10 ? `1${phone}` : phone}`,
  'in Arabic digits': ({ phone }) => digitsIn(0x660)(phone),
  'in Persian digits': ({ phone }) => digitsIn(0x6f0)(phone),
  'in Devanagari digits': (who) => digitsIn(0x966)(grouped('-')(who)),
  'in Thai digits': ({ phone }) => digitsIn(0xe50)(phone),
  'in wide digits': ({ phone }) => digitsIn(0xff10)(phone),
  'in bold digits': ({ phone }) => digitsIn(0x1d7ce)(phone),
  'in circled digits': ({ phone }) =>
    phone.replace(/[1-9]/g, (d) => String.fromCodePoint(0x245f + Number(d))).replace(/0/g, '⓪'),
  'in keycaps': ({ phone }) => phone.replace(/\d/g, '$&\uFE0F\u20E3'),
  'in Chinese digits': ({ phone }) =>
    phone.replace(/\d/g, (d) => '〇一二三四五六七八九'[Number(d)] as string),
  'with invisible characters': ({ phone }) => [...phone].join('\u200B'),
  'percent-encoded': ({ phone }) => `?x=${percent(phone)}`,
  'percent-encoded twice': ({ phone }) => `?x=${percent(percent(phone))}`,
  'percent-encoded three times': (who) =>
    `?x=${encodeURIComponent(encodeURIComponent(percent(grouped('-')(who))))}`,
  'in entities': ({ phone }) => entities(phone),
  'in hexadecimal entities': ({ phone }) => hexEntities(phone),
  'in unicode escapes': ({ phone }) => escapes(phone),
  'in a path': ({ phone }) => `https://x.example/thanks/${phone}/done`,
  'inside a longer number': ({ phone }) => `session 99${phone}001`,
  'the name': ({ first, last }) => `by ${first} ${last}`,
  'the name in capitals': ({ first, last }) => `${first} ${last}`.toUpperCase(),
  'the name without accents': ({ first, last }) =>
    `/thanks/${bare(first)}-${bare(last)}`.toLowerCase(),
  'the name as in logins': ({ first, last }) =>
    german(`${first}${last}`)
      .replace(/[^a-z]/gi, '')
      .toLowerCase(),
  'the name with hyphens': ({ first, last }) =>
    german(`${first}-${last}`).replace(/’/g, '').toLowerCase(),
  'the name, encoded': ({ first, last }) => `?n=${encodeURIComponent(`${first} ${last}`)}`,
  'the name, encoded twice': ({ last }) => `?n=${encodeURIComponent(percent(last))}`,
  'another number': () => 'or ring 0151 98765432 or 00441632960961, 415-555-0136',
  'another number in Arabic digits': () => digitsIn(0x660)('4155550136'),
  'an e-mail address': ({ email }) => `mail ${email}`,
  'an e-mail address, encoded': ({ email }) =>
    `?e=${encodeURIComponent(encodeURIComponent(email))}`,
  'an e-mail address in entities': ({ email }) =>
    email.replace('@', '&#64;').replace(/\./g, '&period;'),
  'an e-mail address, spelled': ({ email }) => email.replace('@', ' [at] '),
  'an e-mail address, wide': ({ email }) => email.replace('@', '＠'),
  'the street': ({ street }) => `from ${street}`,
  'the street in a URL': ({ street }) => street.replace(/ /g, '+').toLowerCase(),
  'the zip code': ({ zip }) => `zip ${zip}, near me`,
  'the IP address': ({ ip }) => `at ${ip}!`,
  'the IP address, encoded': ({ ip }) => percent(ip),
  'a card': ({ card }) => `card ${card}`,
  'a card in fours': ({ card }) => fours(card),
  'a card with dashes': ({ card }) => fours(card).replace(/ /g, '-'),
};

const empty = Object.fromEntries(fields.map((spec) => [spec.name, null])) as unknown as Call;
const texts = fields.filter(
  ({ type, personal, isId, name }) =>
    (type === 'string' || type === 'url') && !personal && !isId && name !== 'dnis',
);

/** Names, streets and zip codes are looked for in what visitors can write, numbers everywhere. */
const visitorTexts = texts.filter(({ visitorText }) => visitorText);
const isFormless = (spelling: string): boolean => /^the (?:name|street|zip)/.test(spelling);

/**
 * One record for each person and spelling, which is in two fields: every field with text gets its
 * turn.
 */
export const craftedCalls: readonly (Call & { readonly who: Person; readonly spelling: string })[] =
  people.flatMap((who, p) =>
    Object.entries(spellings).map(([spelling, write], s) => {
      const turn = p * 7 + s * 2;
      const text = write(who);
      const possible = isFormless(spelling) ? visitorTexts : texts;
      const places = [0, 1].map(
        (each) => possible[(turn + each) % possible.length]?.name ?? 'search_term',
      );
      return {
        ...empty,
        sid: `S${p}-${s}`,
        date_added: '2026-11-01 10:00:00',
        talk_minutes: '1.0',
        channel: 'Tracker',
        dnis: '8005550100',
        ani: who.phone,
        first_name: who.first,
        last_name: who.last,
        street_address: who.street,
        zipcode: who.zip,
        ip_address: who.ip,
        recording: `https://rec.example.com/r/${p}${s}77`,
        search_term: text,
        ...Object.fromEntries(places.map((place) => [place, text])),
        who,
        spelling,
      };
    }),
  );

/** Everything that somebody who decodes what they see could read. */
function decoded(text: string): string {
  let plain = text.replace(/\b[a-z]+(?:-in-text)?-\d{12}\b/g, ' MASK ');
  for (let layer = 0; layer < 5; layer += 1) {
    plain = plain
      .replace(/&#x([0-9a-f]+);/gi, (_, hex: string) =>
        String.fromCodePoint(Number.parseInt(hex, 16)),
      )
      .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
      .replace(/&period;/g, '.')
      .replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
      .replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
        Buffer.from(run.replace(/%/g, ''), 'hex').toString(),
      );
  }

  const scripts = [0x660, 0x6f0, 0x966, 0xe50];
  return plain
    .normalize('NFKD')
    .replace(/\p{Nd}/gu, (digit) => {
      const code = digit.codePointAt(0) as number;
      const zero = scripts.find((each) => code >= each && code < each + 10);
      return zero === undefined ? digit : String(code - zero);
    })
    .replace(/[〇一二三四五六七八九]/g, (digit) => String('〇一二三四五六七八九'.indexOf(digit)))
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[łŁ]/g, 'l')
    .replace(/ß/g, 'ss')
    .toLowerCase();
}

/** Which personal values of a person can be read in a string. */
export function leaksOf(text: string, who: Person): string[] {
  const plain = decoded(text);
  const digits = plain.replace(/[^\p{L}\d]/gu, '');
  const letters = plain.replace(/[^\p{L}\d]/gu, '');
  const named = [who.first, who.last].flatMap((name) => [bare(name), german(name)]);
  const words = named
    .flatMap((name) =>
      name
        .toLowerCase()
        .replace(/ß/g, 'ss')
        .split(/[^a-z]+/),
    )
    .filter((word) => word.length > 3);
  const numbers = [
    who.phone,
    who.phone.slice(-9),
    who.card,
    '15198765432',
    '1632960961',
    '4155550136',
    who.zip,
  ];
  const strings = [
    who.ip.replace(/[^\da-f]/g, ''),
    who.street.toLowerCase().split(' ').slice(-2).join(''),
    who.email.split('@')[1]?.replace(/[^a-z\d]/g, '') ?? '',
  ];
  return [
    ...numbers.filter((each) => digits.includes(each)),
    ...[...words, ...strings.map((each) => decoded(each))].filter((each) => letters.includes(each)),
  ];
}

/** Which personal values of anybody can be read in a result. */
export function leaksInText(text: string): string[] {
  const withoutIds = text.replace(/S\d+-\d+/g, '').replaceAll('8005550100', '');
  // Zip codes are short enough to be part of a mask or a count by chance.
  return people.flatMap((who) => leaksOf(withoutIds, { ...who, zip: 'no zip code' }));
}
