/** Why a program in EPL2 or TSPL2 is not printed, in German. */
import type { PROGRAM_REASONS } from '../../../src/words/program-reasons.ts';

export const programReasons: Readonly<Record<keyof typeof PROGRAM_REASONS, string>> = {
  'program-line': 'Zeile {line}: {why}',
  'program-for-all':
    '{command} gilt für alle, die den Drucker benutzen: {why}. Lassen Sie den Befehl weg, oder bitten Sie einen Administrator, Druckerbefehle zu erlauben',
  'program-unknown': '{command} ist kein Befehl von {language}, der ein Etikett zeichnet',
  'program-at-once': '{command} wirkt sofort, mitten in anderen Etiketten',
  'program-recalls': '{command} betrifft, was im Drucker gespeichert ist und jedem gehören kann',
  'program-other-label': '{command} druckt etwas anderes als das Etikett',
  'program-object': '{object} speichert anderes als ein Bild oder eine Schrift (BMP, PCX, TTF) im Drucker',
  'program-uncleared':
    'Das Etikett wird über das vorige gezeichnet: am Anfang das Bild löschen (N in EPL2, CLS in TSPL2)',
  'program-quotes':
    'Ein Text in Anführungszeichen endet nicht, oder neben den Texten steht etwas anderes als Wörter, Zahlen und Kommas',
  'program-counted': 'Der Inhalt eines Codes wird abgezählt, statt in Anführungszeichen zu stehen',
  'program-control': 'Das Steuerzeichen {code} steht außerhalb von Daten',
  'program-cut-off': 'Seine Daten sind abgeschnitten',
  'program-long': 'Es hat mehr als {most} Zeichen',
  'program-commands-many': 'Es hat mehr als {most} Zeilen',
  'program-labels-many': 'Es hat mehr als {most} Etiketten',
  'program-downloads-many': 'Mehr als {most} Downloads',
  'program-no-label': 'Es druckt kein Etikett (P in EPL2, PRINT in TSPL2)',
  'program-data-large':
    'Ein Befehl hat {bytes} Bytes Daten, mehr als ein Etikett dieses Druckers Punkte hat: höchstens {most}',
};
