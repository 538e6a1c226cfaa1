/** The system user as whom nothing but Platen runs, where it is installed and where root starts it. */
export const USER = 'platen';
/** Its home, in which a service keeps its state: 0700. */
export const STATE = '/var/lib/platen';
/** In an agent's state: the service with which it has enrolled, and its key. */
export const ENROLMENT = 'enrolment.json';
