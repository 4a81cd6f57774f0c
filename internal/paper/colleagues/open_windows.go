package colleagues

const quickly = 0 // files that wait for somebody have no names in folders here
