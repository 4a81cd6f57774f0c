#!/bin/sh
# Is a virtual machine of libvirt switched on?
# usage: vm.sh NAME                       0 free, 1 busy, 2 cannot tell
state=$(LC_ALL=C virsh -q domstate "$1") || exit 2
case $state in
"shut off" | crashed)
	echo "$1 is $state"
	;;
running | paused | pmsuspended | idle | "in shutdown")
	echo "$1 is $state"
	exit 1
	;;
*)
	echo "virsh says $state of $1"
	exit 2
	;;
esac
