/** The system user as whom nothing but Platen runs, where it is installed and where root starts it. */
export const USER = 'platen';
/** Its home, in which a service keeps its state: 0700. */
export const STATE = '/var/lib/platen';
