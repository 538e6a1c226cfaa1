/** Warum ein Programm in ZPL keine Vorlage ist oder anders druckt. */
import type { ZPL_REASONS } from '../../../src/contract/zpl-reasons.ts';

export const zplReasons: Readonly<Record<keyof typeof ZPL_REASONS, string>> = {
  'zpl-line': 'Zeile {line}: {why}',
  'zpl-for-all':
    '{command} gilt für alle, die den Drucker benutzen: {why}. Lassen Sie den Befehl weg, oder bitten Sie einen Administrator, Druckerbefehle zu erlauben',
  'does-memory': 'Er ändert oder leert den Speicher des Druckers',
  'does-delete': 'Er löscht, was im Drucker gespeichert ist',
  'does-fonts': 'Er verknüpft die Schriften des Druckers',
  'does-store': 'Er speichert das Etikett im Drucker',
  'does-basic': 'Er startet den BASIC-Interpreter des Druckers',
  'does-ports': 'Er ändert die Anschlüsse des Druckers',
  'does-resolution': 'Er ändert die Auflösung des Druckers',
  'does-sensors': 'Er ändert die Sensoren des Druckers',
  'does-head-test': 'Er ändert die Prüfung des Druckkopfs',
  'does-configuration': 'Er speichert die Einstellungen des Druckers oder setzt sie zurück',
  'does-errors': 'Er ändert, was der Drucker nach einem Fehler tut',
  'does-clock': 'Er stellt die Uhr des Druckers',
  'does-language': 'Er ändert die Sprache des Druckers',
  'does-name': 'Er benennt den Drucker um',
  'does-password': 'Er ändert das Passwort des Druckers',
  'does-kiosk': 'Er ändert die Kiosk-Einstellungen des Druckers',
  'does-alerts': 'Er ändert Meldungen und Warnungen des Druckers',
  'does-panel': 'Er sperrt das Bedienfeld des Druckers',
  'does-network': 'Er ändert das Netz des Druckers',
  'does-feed': 'Er schiebt Medium vor',
  'does-pause': 'Er hält den Drucker an',
  'does-rfid-passwords': 'Er setzt Passwörter von RFID-Tags',
  'does-encoding': 'Er ändert die Zeichencodierung des Druckers',
  'does-early': 'Er beginnt zu drucken, bevor das Etikett da ist',
  'does-copy': 'Er kopiert, was im Drucker gespeichert ist',
  'does-rfid': 'Er beschreibt RFID-Tags',
  'does-off': 'Er schaltet den Drucker aus',
  'does-not-draw': 'Er zeichnet nichts auf ein Etikett',
  'does-overprint': 'Mit N druckt er das Etikett auch über die nächsten',
  'does-replace-font': 'Er tritt an die Stelle einer Schrift des Druckers',
  'zpl-counts':
    '{command} zählt im Drucker, wo Kopien Nummern doppelt bekämen; nehmen Sie ein Feld des Datensatzes',
  'zpl-other-label': 'Mit ^WD wird ein anderes Etikett gedruckt als die Vorlage',
  'zpl-answers': '{command} lässt den Drucker antworten, und das geht hier nicht',
  'zpl-at-once': '{command} wirkt sofort, mitten in anderen Etiketten, und kann in keiner Vorlage stehen',
  'zpl-binary': 'Binäre Daten in ^GF gehen nicht: Schreiben Sie es als ^GFA',
  'zpl-control': 'Steuerzeichen {code}; in Daten schreibt man es mit ^FH',
  'zpl-syntax':
    '{command} ändert, was ein Befehl ist, und das geht nicht: Schreiben Sie die Vorlage mit ^, ~ und Kommas',
  'zpl-encoding': 'Als ^CI gehen 28 (UTF-8), 0, 13, 27 und 31 bis 36, ohne Umbelegung',
  'zpl-second-label':
    'Hier beginnt ein zweites Etikett: Eine Vorlage ist ein Etikett, machen Sie aus jedem eine',
  'zpl-no-label': 'Erwartet ist genau ein Etikett, ^XA … ^XZ',
  'zpl-text-outside': 'Außerhalb von ^XA … ^XZ steht Text',
  'zpl-label-in-label': 'Mit ^XA beginnt ein zweites Etikett, bevor ^XZ das erste beendet hat',
  'zpl-outside': '{command} steht außerhalb von ^XA … ^XZ',
  'zpl-no-end': 'Zu ^XA fehlt ^XZ',
  'zpl-stored-unused': 'Mit ^DF wird ein Format gespeichert, das diese Vorlage nicht abruft',
  'zpl-recalled-long': 'Mit den gespeicherten Formaten, die es abruft, ist das Etikett zu lang',
  'zpl-object-unnamed': '{command} ohne den Namen eines Objekts',
  'zpl-downloads-many': 'Mehr als {most} Bilder und Schriften werden geladen',
  'zpl-object-kind': 'In ~DY stehen nur Bilder und Schriften: B, E, G, P, T oder X',
  'zpl-object-data': 'In ~DY stehen nur hexadezimale oder Base64-Daten: A oder P',
  'zpl-common-memory':
    '{command} speichert {object} für alle, die den Drucker benutzen: Speichern Sie es in R:, oder bitten Sie einen Administrator, Druckerbefehle zu erlauben',
  'zpl-placeholder': 'Ein Platzhalter nach {command}: Er kann nur in den Daten eines Feldes stehen',
  'zpl-field-name': 'Der Name in ^FN ist keiner',
  'zpl-field-filter': 'In ^FN steht ein Feld ohne Filter',
  'zpl-field-names': 'Das Feld ^FN{number} hat zwei Namen',
  'zpl-beside-fixed':
    'Neben dem festen Text des Feldes, in der Codierung der Vorlage (^CI), ist nur ASCII möglich',
  'zpl-escape': '{command} läse ein Zeichen des Werts als Escape',
  'zpl-bc-ascii': 'In ^BC ist nur ASCII möglich',
  'zpl-bc-set-b': 'In ^BC sind nur druckbare ASCII-Zeichen möglich (Zeichensatz B)',
  'zpl-bc-pairs':
    'Hier liest ^BC Paare von Ziffern (Zeichensatz {set}): Erwartet sind Ziffern, insgesamt gerade viele',
  'zpl-bc-mode-d':
    'Im Modus D lässt ^BC Klammern im Barcode weg: Neben dem Text der Vorlage kann der Wert keine haben',
  'zpl-bc-mode-u': 'Im Modus U nimmt ^BC 19 Ziffern und ergänzt die Prüfziffer',
  'zpl-bq-switches':
    'Die Daten von ^BQ beginnen mit Fehlerkorrektur und Modus, und ein Wert verlöre dort seinen Anfang: Schreiben Sie ^FDQA,{placeholder}',
  'zpl-retail-digits':
    'In {command} stehen {digits} Ziffern, und eine mehr, wenn es die richtige Prüfziffer ist',
  'zpl-digits-only': 'In {command} stehen nur Ziffern',
  'zpl-undrawable': 'Es lässt sich nicht zeichnen: {detail}',
  'zpl-other-dpi': 'Mit ^PW{count} ist es dieses Medium bei {other} dpi, nicht bei {dpi} dpi',
  'zpl-larger': 'Mit ^{command}{count} ist es mehr, als das Medium hat: {dots} Punkte',
  'zpl-off-label':
    'Das Feld bei {x},{y} (^{command}) liegt außerhalb der {width} × {length} Punkte, die gedruckt werden',
  'zpl-over-edge':
    'Das Feld bei {x},{y} (^{command}), {across} × {down} Punkte, reicht über den Rand der {width} × {length} Punkte hinaus, die gedruckt werden',
};
