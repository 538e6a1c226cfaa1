/** German words of the page of the agents. */
import type { agentWords as english } from '../en/agents.ts';
import { many } from './counted.ts';

export const agentWords: typeof english = {
  agents: {
    title: 'Agenten',
    hint: 'Ein Agent läuft neben Druckern und druckt auf ihnen. An einem anderen Ort braucht er einmal einen Code und eine Verbindung ins Internet.',
    empty: 'Noch kein Agent',
    emptyHint:
      'Starten Sie einen neben den Druckern. Ist das ein anderer Ort als der des Dienstes, laden Sie ihn zuerst ein.',
    invite: 'Einladen …',
    inviteTitle: 'Einen Agenten einladen',
    inviteSays:
      'Macht einen Code, mit dem sich ein Agent an einem anderen Ort anmeldet: einmal, innerhalb eines Tages.',
    inviteSubmit: 'Code machen',
    name: 'Name',
    namePlaceholder: 'Rampe Hamburg',
    whose: 'Wer auf seinen Druckern druckt',
    forAll: 'Alle Arbeitsbereiche',
    forOne: (tenant) => `Arbeitsbereich ${tenant}`,
    brings: 'Seine Drucker',
    bringsHint: 'Ein Drucker, den ein anderer Agent gemeldet hat, wartet auf jeden Fall.',
    bringsAny: 'bekommen sofort Aufträge',
    bringsApprove: 'warten, bis jemand jeden freigibt',
    codeTitle: (name) => `Der Code für ${name}`,
    codeSays: (until) =>
      `Er wird dieses eine Mal gezeigt und gilt einmal, bis ${until}. Wer ihn benutzt, bekommt die Aufträge der Drucker dort.`,
    there: 'Am anderen Ort eingeben',
    code: 'Adresse und Code',
    kept: 'Ich habe ihn notiert',
    onlyHere:
      'Diese Adresse gilt nur auf dem Rechner, auf dem der Dienst läuft. Für andere muss, wer ihn betreibt, erst PLATEN_PUBLIC_URL setzen.',
    waitsForIt: 'Wartet auf ihn',
    codeUntil: (time) => `Code gilt bis ${time}`,
    enrolledNotYet: 'Er ist angemeldet und noch nicht verbunden: Starten Sie ihn dort.',
    looks: 'Er ist angemeldet und verbunden. Er sucht Drucker.',
    foundSome: (n) => `Er ist verbunden: ${many(n, 'Drucker', 'Drucker')} gefunden.`,
    foundWaiting: (n, waiting) =>
      `Er ist verbunden: ${many(n + waiting, 'Drucker', 'Drucker')} gefunden, davon ${waiting === 1 ? 'wartet einer' : `warten ${waiting.toLocaleString('de')}`} auf Freigabe.`,
    state: 'Zustand',
    enrolled: 'Noch nicht da',
    revoked: 'Gesperrt',
    wentBack: (version) => `die Aktualisierung auf ${version} wurde zurückgenommen`,
    seen: 'Zuletzt gehört',
    never: 'nie',
    waiting: (n) => (n === 1 ? 'einer wartet' : `${n.toLocaleString('de')} warten`),
    refused: {
      revoked: 'Er wollte sich verbinden, obwohl er gesperrt ist',
      unknown: 'Der Dienst kannte ihn nicht',
      'proof-wrong': 'Jemand kam in seinem Namen mit einem anderen Schlüssel',
      stale:
        'Er hat einen alten Stand gezeigt: Wurde sein Datenverzeichnis kopiert oder aus einer Sicherung hergestellt?',
      taken: 'Ein anderer Prozess von ihm wollte sich verbinden: Wurde sein Datenverzeichnis kopiert?',
      'too-old': 'Er spricht eine andere Version des Protokolls: Aktualisieren Sie ihn',
      'frame-wrong': 'Er wurde nicht verstanden: Aktualisieren Sie ihn',
      'too-many': 'Der Dienst hat keinen Platz für ihn',
      restart: 'Der Dienst wurde neu gestartet',
    },
    waitTitle: 'Drucker, über die zu entscheiden ist',
    waitHint:
      'Ein anderer Agent hat denselben Drucker gemeldet, oder der Agent wurde so eingeladen. Bis zur Freigabe bekommt der Agent keinen seiner Aufträge.',
    refusedTitle: (n) => `Abgelehnte Drucker (${n.toLocaleString('de')})`,
    printer: 'Drucker',
    agent: 'Agent',
    since: 'Seit',
    decide: 'Entscheiden',
    approve: 'Freigeben',
    refuse: 'Ablehnen',
    decided: {
      approved: (name) => `Freigegeben: ${name} bekommt in Sekunden seine Aufträge.`,
      refused: (name) => `Abgelehnt: ${name} bekommt über diesen Agenten keine Aufträge.`,
    },
    approveAll: 'Seine Drucker freigeben …',
    approveAllTitle: (name) => `Die Drucker von ${name} freigeben?`,
    approveSays: (name) => `${name} bekommt ab dann die Aufträge dieser Drucker.`,
    approvedSome: (n) => `${many(n, 'Drucker', 'Drucker')} freigegeben.`,
    rename: 'Umbenennen …',
    renameTitle: (name) => `${name} umbenennen`,
    renameHint: 'Es gilt, wie er hier heißt, was auch immer der Agent selbst sagt.',
    letIn: 'Einlassen …',
    letInTitle: (name) => `${name} einlassen?`,
    letInDo: 'Einlassen',
    letInSays:
      'Halten Sie erst die Kopie an, wenn es eine gibt: Von da an druckt nur noch dieser. Er beginnt ohne seine Aufzeichnungen, also werden Aufträge angehalten, die er begonnen haben kann, bis jemand entscheidet.',
    letInDone: (name) => `${name} wird eingelassen, sobald er es wieder versucht, binnen einer Minute.`,
    restored: (n, at) =>
      `Die Datenbank des Dienstes wurde auf einen früheren Stand zurückgesetzt: ${many(n, 'Agent wusste', 'Agenten wussten')} mehr als sie, der letzte um ${at}. Was dazwischen kam, fehlt hier.`,
    restoredWait: (n) =>
      `${many(n, 'Agent war', 'Agenten waren')} damals noch nicht eingeladen und ${n === 1 ? 'wartet' : 'warten'} auf Einlass.`,
    letInAll: 'Einlassen …',
    letInAllTitle: (n) => `${many(n, 'Agenten', 'Agenten')} einlassen?`,
    letInAllSays:
      'Sie beginnen ohne ihre Aufzeichnungen, also werden Aufträge angehalten, die sie begonnen haben können, bis jemand entscheidet. Ein Agent, der seitdem gesperrt wurde, ist wieder dabei: sperren Sie ihn zuerst.',
    letInAllDone: (n) =>
      `${many(n, 'Agent wird', 'Agenten werden')} beim nächsten Versuch eingelassen, binnen einer Minute.`,
    withdraw: 'Code zurückziehen …',
    withdrawTitle: (name) => `Den Code von ${name} zurückziehen?`,
    withdrawDo: 'Zurückziehen',
    withdrawSays: 'Niemand kann sich mehr damit anmelden. Eine neue Einladung gibt einen neuen Code.',
    needsAdmin:
      'Agenten einladen und über sie entscheiden können Administratoren: Ihre Rolle ist eine andere.',
    move: 'In einen anderen Arbeitsbereich …',
    moves: 'wechselt den Arbeitsbereich',
    moveTitle: (name) => `Wem soll ${name} gehören?`,
    moveDo: 'Verschieben',
    moveSays:
      'Er nimmt keinen weiteren Auftrag, beendet höchstens eine Minute lang, was er druckt, und meldet sich dann im anderen Arbeitsbereich. Solange er nicht verbunden ist, bleibt er, wo er ist.',
    moveLoses:
      'Aufträge, die auf seine Drucker warten, bleiben in dem Arbeitsbereich, den er verlässt: für einen anderen Agenten, oder bis jemand sie verschiebt. Im anderen sind seine Drucker neu: Freigaben, und Drucker, die ihm mit ihrer Adresse hinzugefügt wurden, kommen nicht mit.',
    movesSays:
      'Er soll den Arbeitsbereich schon wechseln und hat es noch nicht getan. Damit er bleibt, wählen Sie den, in dem er ist.',
    moveDone: (name) => `${name} wechselt, sobald er beendet hat, was er druckt, und verbunden ist.`,
    stays: 'Er soll bleiben',
    staysDone: (name) => `${name} bleibt, wo er ist.`,
    revoke: 'Sperren …',
    revokeTitle: (name) => `${name} sperren?`,
    revokeSays:
      'Seine Verbindung endet in Sekunden. Was er druckt, wird angehalten oder geht an einen anderen Agenten, der den Drucker hat. Mit einem neuen Code darf er zurückkommen.',
    forget: 'Aus der Liste nehmen …',
    forgetTitle: (name) => `${name} aus der Liste nehmen?`,
    forgetSays:
      'Mit ihm gehen seine Drucker, die kein anderer Agent hat, und die, die für ihn über ihre Adresse hinzugefügt wurden. Ihre Namen, Einstellungen und wartenden Aufträge bleiben für den Agenten, der sie als nächster hat. Kommt er wieder, steht er wieder hier; ein gesperrter bleibt ausgesperrt.',
    unreached: (n) =>
      n === 1
        ? 'Ein Drucker aus der Konfiguration der Agenten wurde nie erreicht'
        : `${n.toLocaleString('de')} Drucker aus der Konfiguration der Agenten wurden nie erreicht`,
  },
};
