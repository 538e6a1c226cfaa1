/** German words of jobs and of deciding about them. */
import type { Texts } from '../en.ts';
import { jobs, labels, verb } from './counted.ts';

export const jobWords: Pick<Texts, 'status' | 'reason' | 'jobs' | 'job' | 'event' | 'held'> = {
  status: {
    queued: 'Wartet',
    printing: 'Druckt',
    printed: 'Gedruckt',
    failed: 'Gescheitert',
    canceled: 'Abgebrochen',
    held: 'Zu entscheiden',
  },
  reason: {
    offline: 'nicht erreichbar',
    'media-empty': 'keine Etiketten mehr',
    'media-jam': 'Stau',
    'media-low': 'wenige Etiketten',
    'marker-supply-empty': 'Farbband oder Tinte leer',
    'cover-open': 'Deckel offen',
    paused: 'am Drucker angehalten',
    'spool-area-full': 'sein Speicher ist voll',
    'connecting-to-device': 'verbindet sich',
    'output-area-full': 'seine Ablage ist voll',
    'label-waiting': 'ein Etikett wartet auf die Entnahme',
    'label-unfinished': 'hat ein halbes Etikett von jemand anderem',
    busy: 'druckt etwas anderes',
    'certificate-unknown': 'zeigt ein anderes Zertifikat',
    'found-elsewhere': 'antwortet unter anderer Adresse',
    'printer-gone': 'kein Agent hat ihn mehr',
    'agent-offline': 'sein Agent antwortet nicht',
    'agent-disk': 'sein Agent wartet auf seinen Datenträger',
    other: 'jemand muss nachsehen',
    'printer-held': 'der Drucker ist angehalten',
    'cancel-requested': 'wird gerade angehalten',
  },
  jobs: {
    title: 'Aufträge',
    all: 'Alle',
    underWay: 'Unterwegs',
    value: 'Ein ganzer Wert auf dem Etikett',
    valueWrong: 'Ein Wert hat 3 bis 200 Zeichen.',
    valueKept: 'Mit einem gesuchten Wert',
    search: 'Anfang einer Nummer',
    searchWrong: 'Eine Nummer hat 0–9, a–f und Bindestriche.',
    filters: (n) => (n === 0 ? 'Filter' : `Filter (${n})`),
    anyPrinter: 'Jeder Drucker',
    anyTemplate: 'Jede Vorlage',
    anyTime: 'Jederzeit',
    today: 'Heute',
    hour: 'Letzte Stunde',
    day: 'Letzte 24 Stunden',
    week: 'Letzte 7 Tage',
    between: 'Von … bis …',
    from: 'Angenommen ab',
    until: 'Angenommen vor',
    account: 'Gesendet von',
    anyAccount: 'Jeder Absender',
    tests: 'Tests',
    anyTests: 'Mit Tests',
    onlyTests: 'Nur Tests',
    noTests: 'Ohne Tests',
    job: 'Auftrag',
    status: 'Stand',
    template: 'Vorlage',
    printer: 'Drucker',
    labelsOut: 'Gedruckt',
    accepted: 'Angenommen',
    of: (printed, total) => `${printed} von ${total}`,
    empty: 'Noch kein Auftrag',
    emptyHint: 'Aufträge kommen über HTTP von Ihren Systemen, oder von der Seite Drucken.',
    noneFits: 'Kein Auftrag passt zu diesen Filtern',
    clear: 'Filter leeren',
    pick: 'Auswählen',
    pickAll: 'Alle gezeigten auswählen',
    picked: (n) => `${jobs(n)} ausgewählt`,
    bulk: {
      cancel: {
        open: 'Abbrechen …',
        title: 'Diese Aufträge abbrechen?',
        action: 'Aufträge abbrechen',
        says: (n, count) => `${jobs(n)}, noch nicht heraus: ${labels(count)}. Das wird nicht gedruckt.`,
      },
      retry: {
        open: 'Weiterdrucken …',
        title: 'Diese Aufträge weiterdrucken?',
        action: 'Weiterdrucken',
        says: (n, count) =>
          `${jobs(n)} ${verb(n, 'geht', 'gehen')} weiter: ${labels(count)} ${verb(count, 'wird', 'werden')} gedruckt.`,
      },
      release: {
        open: 'Entscheiden …',
        title: 'Über diese Aufträge entscheiden',
        action: 'Weiterdrucken',
        says: (n, count) =>
          `${jobs(n)} ${verb(n, 'geht', 'gehen')} weiter: ${labels(count)} ${verb(count, 'wird', 'werden')} gedruckt.`,
      },
      move: {
        open: 'Verschieben …',
        title: 'Diese Aufträge auf einen anderen Drucker verschieben',
        action: 'Verschieben',
        says: (n, count) =>
          `${jobs(n)}, noch nicht heraus: ${labels(count)}. Das wird dort gedruckt, und hier nicht.`,
      },
    },
    moveAll: 'Alle verschieben …',
    moveAllTitle: (printer) => `Alles verschieben, was auf ${printer} wartet`,
    moveAllNone: 'Auf ihn wartet nichts mehr.',
    misfits: (n, of, media) =>
      `${n === of ? 'Die Etiketten passen' : `Bei ${n} von ${of} passen die Etiketten`} nicht: Dieser Drucker hat ${media}.`,
    uncertain: 'Die ungewissen Etiketten eines jeden',
    uncertainSkip: 'sind alle da: nicht noch einmal',
    uncertainPrint: 'sind nicht da: noch einmal drucken',
    bulkNone: 'So, wie sie jetzt sind, geht das bei keinem.',
    bulkRefused: (n) => `${jobs(n)} ${verb(n, 'bleibt, wie er ist', 'bleiben, wie sie sind')}:`,
    bulkDone: (n, asked) =>
      `Erledigt für ${jobs(n)}.${asked === 0 ? '' : ` ${asked} davon ${verb(asked, 'wird', 'werden')} gerade angehalten.`}`,
    bulkMoved: (n, count, asked, printer) =>
      asked === 0
        ? `${jobs(n)} auf ${printer} verschoben: ${labels(count)}.`
        : `${jobs(n)} auf dem Weg zu ${printer}; ${asked} ${verb(asked, 'wird', 'werden')} erst angehalten.`,
  },
  job: {
    title: (template) => template,
    number: (id) => `Auftrag ${id}`,
    life: 'Was geschehen ist',
    labels: 'Etiketten',
    values: 'Werte',
    facts: 'Angaben',
    next: 'Wie es weitergeht',
    before: (n) => `${jobs(n)} ${verb(n, 'ist', 'sind')} vor ihm an der Reihe`,
    manyBefore: (n) => `${n} Aufträge oder mehr sind vor ihm an der Reihe`,
    notItsTurn: 'noch nicht an der Reihe',
    nextQueued: 'Er wartet, bis er am Drucker an der Reihe ist, und druckt dann von selbst.',
    nextPrinting: 'Sein Agent druckt ihn. Niemand muss etwas tun.',
    nextWaits: 'Sobald das am Drucker behoben ist, geht es von selbst weiter.',
    folded: (n) => `… ${n} weitere Unterbrechungen zeigen`,
    nextStopping: (inPrinter) =>
      `Er hält an${inPrinter === 0 ? '' : `: ${labels(inPrinter)} ${verb(inPrinter, 'ist', 'sind')} noch im Drucker`}. Sein Agent sagt, was herauskam; antwortet der Drucker nicht, dauert das einen Moment.`,
    nextMoving: (printer) =>
      `Er wird am Ende eines Etiketts angehalten. Was bis dahin nicht heraus ist, wird auf ${printer} gedruckt, als eigener Auftrag.`,
    nextLeft: (printer) => `Er hat angehalten. Was nicht heraus ist, geht jetzt auf ${printer}.`,
    moveRefused: (printer, why) =>
      `Der Rest konnte nicht auf ${printer} gehen: ${why}. Drucken Sie ihn erneut, wo es passt.`,
    nextHold: (who) => `${who} hält den Drucker an. Es geht weiter, sobald er freigegeben ist.`,
    nextPrinted: 'Jedes Etikett ist heraus. Weiter geschieht nichts.',
    nextFailed:
      'Die weiteren Etiketten sind sicher nicht heraus. Erst die Ursache beheben, dann weiterdrucken.',
    nextHeld:
      'Etiketten sind vielleicht heraus, vielleicht nicht. Jemand muss am Drucker nachsehen und entscheiden.',
    nextCanceled: 'Weiter wird nichts davon gedruckt.',
    nextMoved: (printer) =>
      `Er hat hier angehalten. Seinen Rest, die Etiketten, die sicher nicht heraus sind, druckt ${printer}, als eigenen Auftrag.`,
    isRest: (printer) => `Er ist der Rest eines Auftrags, der von ${printer} hierher verschoben wurde.`,
    isRestOfGone: 'Er ist der Rest eines Auftrags, der von einem anderen Drucker hierher verschoben wurde.',
    decide: 'Entscheiden',
    cancel: 'Abbrechen …',
    cancelTitle: 'Diesen Auftrag abbrechen?',
    cancelSays: (out, left) =>
      `${out} heraus; ${labels(left)} ${verb(left, 'wird', 'werden')} nicht gedruckt. Ein abgebrochener Auftrag kommt nicht wieder.`,
    mayCome: (n) =>
      `${labels(n)} ${verb(n, 'ist', 'sind')} schon an den Drucker gesendet und ${verb(n, 'kann', 'können')} noch herauskommen.`,
    cancelPrinting:
      'Sein Agent hält am Ende eines Etiketts an. Wovon dann niemand wissen kann, das wartet unter Zu entscheiden. Was fehlt, kann danach ein anderer Drucker drucken: Noch einmal drucken.',
    out: (n) => `${n} heraus`,
    doubt: (n) => `${n} ungewiss`,
    notOut: (n) => `${n} nicht`,
    movedTo: (n, printer) => `${n} auf ${printer} verschoben`,
    waitsForPrinter: 'Wartet auf den Drucker',
    stopped: (template, printer) => `${template} hat an ${printer} angehalten:`,
    tooLate: (template) => `Jedes Etikett von ${template} war heraus, bevor der Auftrag anhalten konnte.`,
    cancelSubmit: 'Auftrag abbrechen',
    cancelKeep: 'Auftrag behalten',
    force: 'Abbrechen, obwohl kein Agent antwortet: Etiketten, die unterwegs sind, werden ungewiss',
    retry: 'Weiterdrucken',
    retryTitle: 'Den Rest drucken?',
    retrySays: (from, left) =>
      `Es geht mit Etikett ${from} weiter: ${labels(left)} ${verb(left, 'wird', 'werden')} gedruckt.`,
    move: 'Verschieben …',
    moveTitle: 'Auf einen anderen Drucker verschieben',
    moveSays: (left) => `Noch nicht heraus: ${labels(left)}. Das wird dort gedruckt, und hier nicht.`,
    moveTo: 'Auf Drucker',
    otherMedia: (media) => `anderes Papier: ${media}`,
    targetMisfit: (printer, media) => `Die Etiketten passen nicht in ${printer}: Dort liegt ${media}.`,
    targetStill: (printer, why) => `Aus ${printer} kommt jetzt nichts (${why}). Was dorthin geht, wartet.`,
    moveNone: 'Einen anderen Drucker gibt es nicht.',
    reprint: 'Noch einmal drucken …',
    reprintTitle: 'Etiketten noch einmal drucken',
    reprintSays: 'Ein neuer Auftrag druckt sie. Er nennt diesen hier und zählt zum Kontingent.',
    reprintWhich: 'Welche Etiketten',
    maybeOut: (from, to) =>
      from === to
        ? `Etikett ${from} ist vielleicht heraus: Sehen Sie am Drucker nach.`
        : `Etiketten ${from} bis ${to} sind vielleicht heraus: Sehen Sie am Drucker nach.`,
    moveStops: (left, lost) =>
      `Der Auftrag hält hier am Ende eines Etiketts an. Was dann sicher nicht heraus ist, wird dort gedruckt, als eigener Auftrag: ${left === 0 && lost ? 'so, wie es steht, nichts' : `${lost ? '' : 'mindestens '}${labels(left)}`}.`,
    moveWay: (n, lost) =>
      lost
        ? `${labels(n)} ${verb(n, 'ist', 'sind')} gesendet, und niemand weiß, ob ${verb(n, 'es', 'sie')} heraus ${verb(n, 'ist', 'sind')}: Sehen Sie erst nach. ${verb(n, 'Es geht', 'Sie gehen')} nicht mit, sondern ${verb(n, 'wartet', 'warten')} unter Zu entscheiden.`
        : `${labels(n)} ${verb(n, 'ist', 'sind')} gesendet, und niemand weiß schon, ob ${verb(n, 'es', 'sie')} heraus ${verb(n, 'ist', 'sind')}. Was noch ungewiss ist, wenn der Auftrag angehalten hat, geht nicht mit, sondern wartet unter Zu entscheiden.`,
    moveNoAgent:
      'Sein Agent antwortet nicht: Der Auftrag wird angehalten und verschoben, sobald der Agent wieder da ist.',
    moveFrom: (from, to, last) =>
      `Etiketten ${from} bis ${to} sind vielleicht heraus: Sehen Sie nach, und sagen Sie, mit welchem es weitergeht.${last > to ? ` ${last}: Alle sind da.` : ''}`,
    reprintHint: (total) => `Von 1 bis ${total}, etwa 3, 7-9. Leer heißt keines.`,
    chooseAll: (total) => `Alle ${total} auswählen`,
    labelsBefore: 'Etiketten davor',
    reprintWrong: (total) => `Erwartet sind Zahlen von 1 bis ${total}, etwa 3, 7-9.`,
    reprinted: 'Der neue Auftrag ist unterwegs.',
    open: 'Öffnen',
    openPage: 'Öffnen',
    canceled: 'Der Auftrag ist abgebrochen:',
    asked: 'Der Auftrag wird angehalten.',
    goesOn: 'Der Auftrag geht weiter.',
    stops: (printer) =>
      `Der Auftrag wird an ${printer} angehalten; was sicher nicht heraus ist, geht dann auf den anderen Drucker.`,
    moved: (n, printer) => `Auf ${printer} verschoben: ${labels(n)}.`,
    noData:
      'Die Werte dieses Auftrags sind nicht mehr da: Nach dem Druck oder Abbruch werden sie gelöscht, wenn die Aufbewahrungszeit des Arbeitsbereichs vorbei ist.',
    noSight: 'Ihre Rolle sieht nicht, was auf Etiketten steht.',
    noPicture: 'Kein Bild',
    picture: (n) => `Etikett ${n}`,
    labelOf: (n, total) => `Etikett ${n} von ${total}`,
    record: 'Datensatz',
    copies: 'Kopien',
    format: 'Format',
    orientation: 'Ausrichtung',
    portrait: 'Hochformat',
    landscape: 'Querformat',
    account: 'Gesendet von',
    sender: 'Angegebener Name',
    restOf: 'Rest von',
    rests: 'Den Rest druckt',
    reprintOf: 'Druckt noch einmal',
    reprints: 'Noch einmal gedruckt von',
    since: (time) => `seit ${time}`,
    moreLabels: 'Weitere Etiketten zeigen',
    everyDot: 'Ein Klick auf ein Etikett zeigt jeden Punkt, wie ihn der Drucker bekommt.',
    valuesOf: (from, to, total) => `Datensätze ${from} bis ${to} von ${total}`,
  },
  event: {
    accepted: (who) => (who === null ? 'Angenommen' : `Angenommen von ${who}`),
    queued: (who) => (who === null ? 'Wartet, bis er an der Reihe ist' : `${who} ließ ihn weitergehen`),
    printing: 'Ein Agent begann zu drucken',
    printingWaits: (reasons) => `Ein Agent begann zu drucken und wartete: ${reasons}`,
    waits: (reasons) => `Wartete: ${reasons}`,
    goesOn: 'Ging weiter',
    printed: (who) => (who === null ? 'Jedes Etikett ist heraus' : `${who} sagte: Jedes Etikett ist heraus`),
    failed: 'Gescheitert',
    held: 'Angehalten: Jemand muss entscheiden',
    canceled: (who) => (who === null ? 'Abgebrochen' : `Abgebrochen von ${who}`),
    decided: (who) =>
      who === null
        ? 'Es wurde gesagt, welche Etiketten heraus sind'
        : `${who} sagte, welche Etiketten heraus sind`,
    'cancel-requested': (who) => (who === null ? 'Soll anhalten' : `${who} bat ihn, anzuhalten`),
    moved: (who, printer) =>
      who === null ? `Auf ${printer} verschoben` : `${who} verschob ihn auf ${printer}`,
    progress: (sent, printed) => `gesendet ${sent}, heraus ${printed}`,
  },
  held: {
    title: 'Zu entscheiden',
    empty: 'Nichts zu entscheiden',
    emptyHint:
      'Platen druckt kein Etikett auf Verdacht ein zweites Mal. Wenn es nicht wissen kann, ob Etiketten herauskamen, wartet der Auftrag hier auf jemanden, der nachsieht.',
    which: (from, to) =>
      from === to ? `Ist Etikett ${from} heraus?` : `Welche der Etiketten ${from} bis ${to} sind heraus?`,
    look: 'Gehen Sie zum Drucker und suchen Sie diese Etiketten. Ungewisse sind markiert; daneben stehen das letzte, das heraus ist, und das erste, das es nicht ist.',
    certain: 'ist heraus',
    doubt: 'ungewiss',
    notSent: 'nicht gesendet',
    there: 'Alle sind da',
    thereSays: ({ status, prints }) =>
      status === 'printed'
        ? 'Mehr wird nicht gedruckt: Der Auftrag ist fertig.'
        : prints.to - prints.from === 1
          ? 'Das nächste Etikett wird gedruckt.'
          : `Die nächsten ${labels(prints.to - prints.from)} werden gedruckt.`,
    notThere: 'Keines ist da',
    notThereSays: ({ prints: { from, to } }) =>
      `Es geht mit Etikett ${from + 1} weiter: ${labels(to - from)} im Ganzen.`,
    fromHere: 'Einige sind da',
    first: 'Das erste, das fehlt',
    choose: 'Weiterdrucken',
    done: 'Als fertig vermerken',
    cancelRest: 'Oder mit dem Rest des Auftrags',
    stopped:
      'Er wurde angehalten: Hier wird nichts mehr davon gedruckt. Sagen Sie, welche Etiketten heraus sind.',
    missing: (n) =>
      n === 0
        ? 'Es fehlt keines. Gedruckt wird nichts.'
        : `${labels(n)} ${verb(n, 'fehlt', 'fehlen')}. Von selbst wird nichts gedruckt: „Noch einmal drucken“ auf der Seite des Auftrags druckt, was fehlt.`,
    note: 'So ist es',
    noted: (n) =>
      n === 0
        ? 'Vermerkt: Alle sind heraus.'
        : `Vermerkt: ${labels(n)} ${verb(n, 'fehlt', 'fehlen')}. „Noch einmal drucken“ druckt ${verb(n, 'es', 'sie')}.`,
    decided: 'Entschieden. Der Auftrag geht weiter.',
    decidedDone: 'Entschieden. Der Auftrag ist fertig.',
    more: (n) => `… ${n} weitere dazwischen zeigen`,
    clickFirst: 'Klicken Sie auf das erste, das fehlt.',
    all: 'Alle, die warten',
    at: (printer) => `an ${printer}`,
  },
};
