// What the generated businesses do: the pages of their sites and the words people search for.
import type { Country } from './reserved.ts';

/** A generated line of business. */
export interface Trade {
  readonly name: string;
  readonly domain: string;
  readonly country: Country;
  /** Does the account pay for reverse lookup, which fills in names and addresses? */
  readonly lookup: boolean;
  /** Paths, already percent-encoded, with the title of the page. */
  readonly pages: readonly (readonly [path: string, title: string])[];
  /** Search words by theme; a theme becomes an ad group. */
  readonly themes: Readonly<Record<string, readonly string[]>>;
}

/** Accounts take these in turn. */
export const trades: readonly Trade[] = [
  {
    name: 'Harbor Dental',
    domain: 'www.harbor-dental.example',
    country: 'us',
    lookup: true,
    pages: [
      ['/', 'Harbor Dental – family dentistry'],
      ['/emergency', 'Tooth pain? Same-day emergency visits'],
      ['/implants/cost-and-financing', 'Dental implants: cost, financing & what to expect'],
      ['/whitening', 'Whitening, “before” and “after”'],
      ['/es/dentista', 'Dentista en español'],
      ['/blog/why-do-my-gums-bleed-and-what-can-i-do-about-it', 'Why do my gums bleed?'],
    ],
    themes: {
      Emergency: ['emergency dentist', 'tooth pain', 'dentist open now', '24 hour dentist near me'],
      Implants: ['dental implants cost', 'all on 4 implants', 'implant dentist, payment plan'],
      Cosmetic: ['teeth whitening', 'veneers price', 'invisible braces for adults'],
      Español: ['dentista cerca de mí', 'dentista económico', 'urgencia dental niños'],
    },
  },
  {
    name: 'Brightwater Plumbing & Heating',
    domain: 'brightwater.example',
    country: 'gb',
    lookup: false,
    pages: [
      ['/', 'Brightwater: plumbing & heating'],
      ['/boilers', 'Boiler repair; boiler service; new boilers'],
      ['/emergency-plumber', 'Emergency plumber – 60 minutes or free'],
      ['/prices', 'Prices (incl. VAT), no call-out charge'],
      ['/areas/caerdydd', 'Plymwr yng Nghaerdydd'],
      ['/caf%C3%A9-and-kitchen-fitting', 'Café & kitchen fitting'],
    ],
    themes: {
      Emergency: ['emergency plumber', 'burst pipe', 'leak under sink', 'plumber near me now'],
      Boilers: ['boiler repair', 'combi boiler price', 'boiler service £'],
      Drains: ['blocked drain', 'drain cleaning', 'toilet overflowing'],
    },
  },
  {
    name: 'Clinique vétérinaire Mont-Royal',
    domain: 'mont-royal-vet.example',
    country: 'ca',
    lookup: true,
    pages: [
      ['/', 'Clinique vétérinaire – chiens, chats et nouveaux animaux'],
      ['/urgences', 'Urgences 24 h / 7 j'],
      ['/vaccins', 'Vaccins : à quel âge ?'],
      ['/en/cats', 'Cats only, no dogs 🐈'],
      ['/%C3%A9quipe', 'Notre équipe'],
    ],
    themes: {
      Urgences: ['urgence vétérinaire', 'vétérinaire de garde', 'chien qui boite'],
      Vaccins: ['vaccin chat prix', 'vaccin chiot', 'stérilisation chatte'],
      English: ['vet near me', 'cat only vet', 'dog dentist'],
    },
  },
  {
    name: 'Casa Solar',
    domain: 'casa-solar.example',
    country: 'us',
    lookup: true,
    pages: [
      ['/', 'Casa Solar | Rooftop solar, simply'],
      ['/calculator', 'How much would you save?'],
      ['/es/calculadora', '¿Cuánto ahorraría usted?'],
      ['/batteries', 'Home batteries: backup for outages'],
      ['/financing', '$0 down; 25-year warranty'],
    ],
    themes: {
      Panels: ['solar panels cost', 'rooftop solar', 'is solar worth it'],
      Batteries: ['home battery backup', 'battery for blackout'],
      Español: ['paneles solares precio', 'energía solar para casa', 'año de instalación gratis'],
    },
  },
  {
    name: 'Kitsune Travel 狐',
    domain: 'kitsune-travel.example',
    country: 'us',
    lookup: false,
    pages: [
      ['/', 'Kitsune Travel 狐 – small tours of Japan'],
      ['/%E6%A1%9C', '桜 Cherry blossom tours'],
      ['/rail-pass', 'Rail pass: 7, 14 or 21 days?'],
      ['/he/%D7%99%D7%A4%D7%9F', 'טיולים ליפן'],
      ['/contact', 'Talk to a person'],
    ],
    themes: {
      Tours: ['japan tour small group', 'cherry blossom tour', '日本 ツアー'],
      Rail: ['japan rail pass', 'tokyo to kyoto train', 'rail pass price'],
      Ryokan: ['ryokan with onsen', 'traditional inn kyoto'],
    },
  },
];
