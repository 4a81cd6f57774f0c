package office

import (
	"strconv"
	"strings"
	"sync"
)

// roomWords are the notices of a room in one language. $1, $2 … stand for what
// [put] is given, in an order of the language's own.
type roomWords struct {
	invited, invitedBy                           string // who is invited, by whom
	joined, returned, left, gone                 string
	retired, sessionEnded, processEnded          string // why somebody is gone
	begins, beginsBy, beginsLate, absent         string // the last three go behind the first
	free                                         string
	passed, skipped, skippedBy, lost, lostLate   string
	lostAway                                     string // by the human who did not come
	voted                                        string // who, how, on which proposal
	decided                                      string // proposal, outcome, yes, no, abstained, quorum
	closed, closedBy, forced                     string // the last goes behind one of the others
	says                                         string // between those and the summary
	yes, no, abstain                             string
	accepted, rejected, withoutQuorum, overtaken string
}

// word gives a vote or an outcome.
func (w *roomWords) word(s string) string {
	switch s {
	case "yes":
		return w.yes
	case "no":
		return w.no
	case "abstain":
		return w.abstain
	case "accepted":
		return w.accepted
	case "rejected":
		return w.rejected
	case "no_quorum":
		return w.withoutQuorum
	case "dropped":
		return w.overtaken
	}
	return s
}

// whyGone gives the reason why somebody is gone; the journal has the English one.
func (w *roomWords) whyGone(s string) string {
	switch s {
	case "it is retired":
		return w.retired
	case "its session ended":
		return w.sessionEnded
	case "its process ended":
		return w.processEnded
	}
	return s
}

// put fills in a pattern. Nothing that is filled in is taken for a place.
func put(pattern string, values ...string) string {
	pairs := make([]string, 0, 2*len(values))
	for i, v := range values {
		pairs = append(pairs, "$"+strconv.Itoa(i+1), v)
	}
	return strings.NewReplacer(pairs...).Replace(pattern)
}

// roomWordsIn gives the words of a language that transcripts know; English for
// any other.
func roomWordsIn(lang string) *roomWords {
	if w := roomLanguages()[lang]; w != nil {
		return w
	}
	return roomLanguages()["en"]
}

// roomLanguages is made when it is first needed: few programs say a word of it.
var roomLanguages = sync.OnceValue(func() map[string]*roomWords {
	return map[string]*roomWords{
		"en": {
			invited: "invited $1", invitedBy: "$2 invited $1",
			joined: "$1 joined", returned: "$1 is back", left: "$1 left", gone: "$1 is gone",
			retired: "it is retired", sessionEnded: "its session ended", processEnded: "its process ended",
			begins: "The meeting begins", beginsBy: ", $1 said so", beginsLate: ": the time to wait is over", absent: "; not there: $1",
			free:   "Nobody has the floor: whoever speaks first has it",
			passed: "$1 passed", skipped: "$1 was skipped", skippedBy: "$1 was skipped by $2",
			lost: "$1 lost the floor: it is not there any more", lostLate: "$1 lost the floor: no word within the time of a turn",
			lostAway: "$1 lost the floor: did not come within the time of a turn; the question stands",
			voted:    "$1 votes $2 on proposal $3",
			decided:  "Proposal $1: $2 ($3 yes, $4 no, $5 abstained; quorum $6)",
			closed:   "The room was closed", closedBy: "The room was closed by $1", forced: " to make place for a new one", says: ": ",
			yes: "yes", no: "no", abstain: "abstain",
			accepted: "accepted", rejected: "rejected", withoutQuorum: "no quorum", overtaken: "dropped",
		},
		"fr": {
			invited: "$1 est invité", invitedBy: "$2 a invité $1",
			joined: "$1 a rejoint la discussion", returned: "$1 est de retour", left: "$1 est parti", gone: "$1 n'est plus là",
			retired: "retiré", sessionEnded: "sa session est terminée", processEnded: "son processus est terminé",
			begins: "La discussion commence", beginsBy: ", à la demande de $1", beginsLate: " : l'attente est terminée", absent: " ; absents : $1",
			free:   "Personne n'a la parole : elle est à qui parle en premier",
			passed: "$1 passe son tour", skipped: "Le tour de $1 est sauté", skippedBy: "$2 a sauté le tour de $1",
			lost: "$1 perd la parole : plus présent", lostLate: "$1 perd la parole : rien dit dans le temps imparti",
			lostAway: "$1 perd la parole : pas venu dans le temps imparti ; la question reste posée",
			voted:    "$1 vote « $2 » sur la proposition $3",
			decided:  "Proposition $1 : $2 ($3 pour, $4 contre, $5 abstentions ; quorum $6)",
			closed:   "La discussion est close", closedBy: "La discussion a été close par $1", forced: " pour faire place à une nouvelle", says: " : ",
			yes: "oui", no: "non", abstain: "abstention",
			accepted: "acceptée", rejected: "rejetée", withoutQuorum: "quorum non atteint", overtaken: "sans suite",
		},
		"de": {
			invited: "$1 ist eingeladen", invitedBy: "$2 hat $1 eingeladen",
			joined: "$1 ist beigetreten", returned: "$1 ist wieder da", left: "$1 ist gegangen", gone: "$1 ist nicht mehr da",
			retired: "abgemeldet", sessionEnded: "die Sitzung ist zu Ende", processEnded: "der Prozess ist zu Ende",
			begins: "Das Gespräch beginnt", beginsBy: ", so will es $1", beginsLate: ": die Wartezeit ist um", absent: "; nicht da: $1",
			free:   "Niemand hat das Wort: es gehört dem, der zuerst spricht",
			passed: "$1 verzichtet auf das Wort", skipped: "$1 wurde übergangen", skippedBy: "$1 wurde von $2 übergangen",
			lost: "$1 verliert das Wort: nicht mehr da", lostLate: "$1 verliert das Wort: nichts gesagt in der Zeit dafür",
			lostAway: "$1 verliert das Wort: nicht gekommen in der Zeit dafür; die Frage bleibt offen",
			voted:    "$1 stimmt über Antrag $3 ab: $2",
			decided:  "Antrag $1: $2 ($3 dafür, $4 dagegen, $5 enthalten; Quorum $6)",
			closed:   "Der Raum wurde geschlossen", closedBy: "Der Raum wurde von $1 geschlossen", forced: ", um einem neuen Platz zu machen", says: ": ",
			yes: "ja", no: "nein", abstain: "Enthaltung",
			accepted: "angenommen", rejected: "abgelehnt", withoutQuorum: "Quorum nicht erreicht", overtaken: "hinfällig",
		},
		"es": {
			invited: "$1 está invitado", invitedBy: "$2 invitó a $1",
			joined: "$1 se unió", returned: "$1 ha vuelto", left: "$1 se fue", gone: "$1 ya no está",
			retired: "dado de baja", sessionEnded: "su sesión terminó", processEnded: "su proceso terminó",
			begins: "La conversación empieza", beginsBy: ", a petición de $1", beginsLate: ": terminó la espera", absent: "; ausentes: $1",
			free:   "Nadie tiene la palabra: la tiene quien hable primero",
			passed: "$1 pasa su turno", skipped: "Se saltó el turno de $1", skippedBy: "$2 saltó el turno de $1",
			lost: "$1 pierde la palabra: ya no está", lostLate: "$1 pierde la palabra: no dijo nada a tiempo",
			lostAway: "$1 pierde la palabra: no llegó a tiempo; la pregunta sigue en pie",
			voted:    "$1 vota «$2» en la propuesta $3",
			decided:  "Propuesta $1: $2 ($3 a favor, $4 en contra, $5 abstenciones; quórum $6)",
			closed:   "La sala se cerró", closedBy: "$1 cerró la sala", forced: " para dar lugar a otra", says: ": ",
			yes: "sí", no: "no", abstain: "abstención",
			accepted: "aceptada", rejected: "rechazada", withoutQuorum: "sin quórum", overtaken: "sin efecto",
		},
		"pt": {
			invited: "$1 foi convidado", invitedBy: "$2 convidou $1",
			joined: "$1 entrou", returned: "$1 voltou", left: "$1 saiu", gone: "$1 já não está",
			retired: "foi retirado", sessionEnded: "a sua sessão terminou", processEnded: "o seu processo terminou",
			begins: "A conversa começa", beginsBy: ", a pedido de $1", beginsLate: ": o tempo de espera acabou", absent: "; ausentes: $1",
			free:   "Ninguém tem a palavra: fica com ela quem falar primeiro",
			passed: "$1 passa a vez", skipped: "A vez de $1 foi saltada", skippedBy: "$2 saltou a vez de $1",
			lost: "$1 perde a palavra: já não está", lostLate: "$1 perde a palavra: não disse nada a tempo",
			lostAway: "$1 perde a palavra: não veio a tempo; a pergunta mantém-se",
			voted:    "$1 vota «$2» na proposta $3",
			decided:  "Proposta $1: $2 ($3 a favor, $4 contra, $5 abstenções; quórum $6)",
			closed:   "A sala foi encerrada", closedBy: "A sala foi encerrada por $1", forced: " para dar lugar a outra", says: ": ",
			yes: "sim", no: "não", abstain: "abstenção",
			accepted: "aceite", rejected: "rejeitada", withoutQuorum: "sem quórum", overtaken: "sem efeito",
		},
		"ru": {
			invited: "Приглашение для $1", invitedBy: "$2 приглашает $1",
			joined: "$1 теперь здесь", returned: "$1 снова здесь", left: "$1 уходит", gone: "$1 больше не здесь",
			retired: "больше не числится", sessionEnded: "сеанс завершён", processEnded: "процесс завершён",
			begins: "Обсуждение начинается", beginsBy: ", так решает $1", beginsLate: ": время ожидания истекло", absent: "; нет: $1",
			free:   "Слова не имеет никто: оно у того, кто заговорит первым",
			passed: "$1 отказывается от слова", skipped: "Очередь $1 пропущена", skippedBy: "$2 пропускает очередь $1",
			lost: "$1 теряет слово: больше не здесь", lostLate: "$1 теряет слово: время вышло",
			lostAway: "$1 теряет слово: не приходит вовремя; вопрос остаётся",
			voted:    "$1 голосует по предложению $3: $2",
			decided:  "Предложение $1: $2 (за $3, против $4, воздержались $5; кворум $6)",
			closed:   "Комната закрыта", closedBy: "Комнату закрывает $1", forced: ", чтобы дать место новой", says: ": ",
			yes: "за", no: "против", abstain: "воздерживается",
			accepted: "принято", rejected: "отклонено", withoutQuorum: "нет кворума", overtaken: "снято",
		},
	}
})
