/** The packages of the fonts, the preferred first: Japanese forms of Han come before the others. */

export type Weight = '400Regular' | '700Bold' | '400Regular_Italic' | '700Bold_Italic';

export interface FontPack {
  /** In `@expo-google-fonts`. */
  readonly pack: string;
  /** What its files' names begin with. */
  readonly file: string;
  readonly weights: readonly Weight[];
  /** Name and script of a font that labels can do without: such large fonts have their own Debian package. */
  readonly optional?: { readonly name: string; readonly script: RegExp };
}

const UPRIGHT = ['400Regular', '700Bold'] as const;

export const FONT_PACKS: readonly FontPack[] = [
  { pack: 'roboto-condensed', file: 'RobotoCondensed', weights: ['700Bold'] },
  { pack: 'noto-sans', file: 'NotoSans', weights: [...UPRIGHT, '400Regular_Italic', '700Bold_Italic'] },
  { pack: 'noto-sans-arabic', file: 'NotoSansArabic', weights: UPRIGHT },
  { pack: 'noto-sans-hebrew', file: 'NotoSansHebrew', weights: UPRIGHT },
  { pack: 'noto-sans-devanagari', file: 'NotoSansDevanagari', weights: UPRIGHT },
  { pack: 'noto-sans-thai', file: 'NotoSansThai', weights: UPRIGHT },
  {
    pack: 'noto-sans-jp',
    file: 'NotoSansJP',
    weights: UPRIGHT,
    optional: { name: 'Noto Sans JP', script: /[\p{scx=Hira}\p{scx=Kana}\p{scx=Han}]/u },
  },
  {
    pack: 'noto-sans-sc',
    file: 'NotoSansSC',
    weights: UPRIGHT,
    optional: { name: 'Noto Sans SC', script: /[\p{scx=Han}\p{scx=Bopo}]/u },
  },
  {
    pack: 'noto-sans-kr',
    file: 'NotoSansKR',
    weights: UPRIGHT,
    optional: { name: 'Noto Sans KR', script: /\p{scx=Hang}/u },
  },
  { pack: 'noto-emoji', file: 'NotoEmoji', weights: UPRIGHT },
];
